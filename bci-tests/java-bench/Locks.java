import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that take turns at one monitor, or each at one of its own: {@code Locks contended|uncontended THREADS ROUNDS INSIDE
 * OUTSIDE}, the last two in steps of arithmetic under the monitor and beside it. Prints the sum, which must always be the same.
 */
public final class Locks {
    private static final AtomicLong SUM = new AtomicLong();

    private Locks() {}

    public static void main(String[] args) throws InterruptedException {
        boolean isContended = args[0].equals("contended");
        Thread[] threads = new Thread[Integer.parseInt(args[1])];
        int rounds = Integer.parseInt(args[2]);
        int inside = Integer.parseInt(args[3]);
        int outside = Integer.parseInt(args[4]);
        Object shared = new Object();
        for (int i = 0; i < threads.length; i++) {
            Object monitor = isContended ? shared : new Object();
            threads[i] = new Thread(() -> run(monitor, rounds, inside, outside), "worker-" + i);
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("sum=" + (SUM.get() & Long.MAX_VALUE));
    }

    private static void run(Object monitor, int rounds, int inside, int outside) {
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            synchronized (monitor) {
                sum += work(round, inside);
            }
            sum += work(round, outside);
        }
        SUM.addAndGet(sum);
    }

    private static long work(long seed, int steps) {
        long x = seed;
        for (int i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }
}
