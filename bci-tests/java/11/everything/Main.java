package everything;

/** Does for a moment whatever an engine records: allocates, keeps, computes, waits for a lock and for a thread, collects. */
public final class Main {
    static final Object LOCK = new Object();
    static final Object[] KEPT = new Object[1000];
    static volatile Object sink;

    /** What the threads keep. */
    static class Kept {
        int number;
    }

    private Main() {}

    /** Ends by itself. */
    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(Main::work, "worker-" + i);
        }
        synchronized (LOCK) {
            for (Thread thread : threads) {
                thread.start();
            }
            // Until both wait: no wait is met by chance.
            for (Thread thread : threads) {
                while (thread.getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        System.out.println("done");
    }

    private static void work() {
        synchronized (LOCK) {
            sink = LOCK;
        }
        // Beyond some sampling intervals of each engine.
        long end = System.nanoTime() + 300_000_000L;
        for (int i = 0; i < 20_000 || System.nanoTime() < end; i++) {
            sink = new byte[1000];
            KEPT[i % KEPT.length] = i % 2 == 0 ? sink : new Kept();
        }
    }
}
