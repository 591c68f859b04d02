import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;

/**
 * Many threads, many allocation sites, or both.
 *
 * <p>Arguments: {@code alive} for threads that all live at the same time, {@code virtual} for virtual ones that do (JDK 21),
 * {@code passing} for threads of which no more than {@value #AT_ONCE} live at the same time, {@code busy} for threads that all work for
 * {@value #BUSY_SECONDS} seconds, each through all classes, every second time with one lock; how many; how many of the generated classes
 * with sites they go through, each thread its share.
 */
public final class Crowd implements Runnable {
    private static final int AT_ONCE = 100;
    private static final int BUSY_SECONDS = 20;

    /** When busy threads stop, as {@code System.nanoTime()} says it; 0 for others. */
    private static long until;

    private final int number;
    private final int threads;
    private final int classes;
    private final CountDownLatch arrived;
    private final CountDownLatch leave;

    private Crowd(int number, int threads, int classes, CountDownLatch arrived, CountDownLatch leave) {
        this.number = number;
        this.threads = threads;
        this.classes = classes;
        this.arrived = arrived;
        this.leave = leave;
    }

    @Override
    public void run() {
        if (until != 0) {
            work();
        } else if (threads > classes) {
            Sites.visit(number % classes);
        } else {
            for (int i = number; i < classes; i += threads) Sites.visit(i);
        }
        arrived.countDown();
        try {
            leave.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts", e);
        }
    }

    private void work() {
        for (int i = number; System.nanoTime() - until < 0; i++) {
            if (i % 2 == 0) {
                Sites.visit(i % classes);
            } else {
                synchronized (Crowd.class) {
                    Sites.visit(i % classes);
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[1]);
        int classes = Integer.parseInt(args[2]);
        int together = args[0].equals("passing") ? Math.min(AT_ONCE, threads) : threads;
        if (args[0].equals("busy")) until = System.nanoTime() + BUSY_SECONDS * 1_000_000_000L;
        Thread[] running = new Thread[together];
        for (int done = 0; done < threads; done += together) {
            CountDownLatch arrived = new CountDownLatch(together);
            CountDownLatch leave = new CountDownLatch(1);
            for (int i = 0; i < together; i++) {
                running[i] = start(args[0], new Crowd(done + i, threads, classes, arrived, leave));
            }
            arrived.await();
            leave.countDown();
            for (Thread thread : running) thread.join();
        }
        System.out.println("alive=" + threads);
    }

    private static Thread start(String kind, Crowd member) throws Exception {
        if (kind.equals("virtual")) {
            // This program is compiled for JDK 11.
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return (Thread) start.invoke(null, member);
        }
        Thread thread = new Thread(member);
        thread.start();
        return thread;
    }
}
