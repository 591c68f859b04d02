import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that take turns at one lock, or each at one of its own: {@code Locks shared|own monitor|lock THREADS ROUNDS INSIDE
 * OUTSIDE stay|yield}. INSIDE and OUTSIDE are steps of arithmetic with the lock and without; with {@code yield} the owner lets
 * others have its processor then, so that those find the lock taken. Prints the sum, which must always be the same, the
 * nanoseconds that the threads took, and how often the JVM says that they were blocked (monitors) and waited (locks).
 */
public final class Locks {
    private static final AtomicLong SUM = new AtomicLong();
    private static final AtomicLong BLOCKED = new AtomicLong();
    private static final AtomicLong WAITED = new AtomicLong();
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private Locks() {}

    public static void main(String[] args) throws InterruptedException {
        boolean isShared = args[0].equals("shared");
        boolean isMonitor = args[1].equals("monitor");
        Thread[] threads = new Thread[Integer.parseInt(args[2])];
        int rounds = Integer.parseInt(args[3]);
        int inside = Integer.parseInt(args[4]);
        int outside = Integer.parseInt(args[5]);
        boolean yields = args[6].equals("yield");
        Object sharedMonitor = new Object();
        Lock sharedLock = new ReentrantLock();
        for (int i = 0; i < threads.length; i++) {
            Object monitor = isShared ? sharedMonitor : new Object();
            Lock lock = isShared ? sharedLock : new ReentrantLock();
            Runnable body = isMonitor
                    ? () -> enter(monitor, rounds, inside, outside, yields)
                    : () -> lock(lock, rounds, inside, outside, yields);
            threads[i] = new Thread(() -> counted(body), "worker-" + i);
        }
        long begin = System.nanoTime();
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("nanos=" + (System.nanoTime() - begin));
        System.out.println("sum=" + (SUM.get() & Long.MAX_VALUE));
        System.out.println("blocked=" + BLOCKED);
        System.out.println("waited=" + WAITED);
    }

    private static void counted(Runnable body) {
        body.run();
        ThreadInfo info = THREADS.getThreadInfo(Thread.currentThread().getId());
        BLOCKED.addAndGet(info.getBlockedCount());
        WAITED.addAndGet(info.getWaitedCount());
    }

    private static void enter(Object monitor, int rounds, int inside, int outside, boolean yields) {
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            synchronized (monitor) {
                sum += work(round, inside);
                if (yields) Thread.yield();
            }
            sum += work(round, outside);
        }
        SUM.addAndGet(sum);
    }

    private static void lock(Lock lock, int rounds, int inside, int outside, boolean yields) {
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            lock.lock();
            try {
                sum += work(round, inside);
                if (yields) Thread.yield();
            } finally {
                lock.unlock();
            }
            sum += work(round, outside);
        }
        SUM.addAndGet(sum);
    }

    private static long work(long seed, int steps) {
        long x = seed + 1;
        for (int i = 0; i < steps; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }
}
