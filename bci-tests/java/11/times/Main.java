package times;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that sleep, compute, read and park, and say how long that took. A line is {@code thread nanoseconds cpu-nanoseconds}: what
 * the thread measured around what it did, and what it ran on a processor meanwhile.
 */
public final class Main {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final ConcurrentLinkedQueue<String> SAID = new ConcurrentLinkedQueue<>();
    static final long LENGTH = TimeUnit.MILLISECONDS.toNanos(300);

    private Main() {}

    public static void main(String[] args) throws Exception {
        Thread[] threads = {
            start("t-sleep", () -> {
                Thread.sleep(TimeUnit.NANOSECONDS.toMillis(LENGTH));
                return null;
            }),
            start("t-sleep-twice", () -> {
                TimeUnit.NANOSECONDS.sleep(LENGTH);
                Thread.sleep(0);
                Thread.sleep(1, 500_000);
                return null;
            }),
            start("t-compute", () -> {
                long begin = THREADS.getCurrentThreadCpuTime();
                while (THREADS.getCurrentThreadCpuTime() - begin < LENGTH) {
                    // Goes on.
                }
                return null;
            }),
            start("t-park", () -> {
                long until = System.nanoTime() + LENGTH;
                for (long left = LENGTH; left > 0; left = until - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                return null;
            }),
            read("t-read"),
            interrupted("t-interrupted"),
        };
        for (Thread thread : threads) {
            thread.join();
        }
        print();
    }

    static Thread start(String name, Callable<?> body) {
        Thread thread = new Thread(() -> measure(body), name);
        thread.start();
        return thread;
    }

    static void measure(Callable<?> body) {
        long cpu = THREADS.getCurrentThreadCpuTime();
        long begin = System.nanoTime();
        try {
            body.call();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        long nanos = System.nanoTime() - begin;
        // A virtual thread has none.
        long spent = cpu < 0 ? 0 : THREADS.getCurrentThreadCpuTime() - cpu;
        SAID.add(Thread.currentThread().getName() + " " + nanos + " " + spent);
    }

    static void print() {
        SAID.forEach(System.out::println);
    }

    /** Reads what comes later. */
    private static Thread read(String name) throws Exception {
        Pipe pipe = Pipe.open();
        CountDownLatch reads = new CountDownLatch(1);
        Thread thread = start(name, () -> {
            reads.countDown();
            return pipe.source().read(ByteBuffer.allocate(1));
        });
        reads.await();
        TimeUnit.NANOSECONDS.sleep(LENGTH);
        pipe.sink().write(ByteBuffer.wrap(new byte[1]));
        return thread;
    }

    /** Sleeps until it is interrupted. */
    private static Thread interrupted(String name) throws Exception {
        Thread thread = start(name, () -> {
            try {
                Thread.sleep(TimeUnit.HOURS.toMillis(1));
            } catch (InterruptedException e) {
                return null;
            }
            throw new IllegalStateException("nobody woke it");
        });
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.yield();
        }
        thread.interrupt();
        return thread;
    }
}
