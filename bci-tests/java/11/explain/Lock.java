package explain;

import java.util.concurrent.locks.LockSupport;

/** Planted: eight threads that all want one lock, whose owner takes its time. */
public final class Lock {
    private static final int THREADS = 8;
    private static final int TURNS = 12;

    private Lock() {}

    public static void main(String[] args) throws InterruptedException {
        Ledger ledger = new Ledger();
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> work(ledger), "teller-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(ledger.entries + " entries");
    }

    private static void work(Ledger ledger) {
        for (int turn = 0; turn < TURNS; turn++) {
            ledger.enter(turn);
        }
    }

    private static final class Ledger {
        private int entries;

        synchronized void enter(int amount) {
            LockSupport.parkNanos(5_000_000 + amount); // planted: lock
            entries++;
        }
    }
}
