package stalls;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Does what its standard input says, and says so: {@code work} is a lot of everything that is reported; {@code more} and
 * {@code last} make a thousand objects of a class of their own. It ends with its input, unless it is to {@code stay}.
 */
public final class Main {
    static class Early {}

    static class More {}

    static class Last {}

    private static final int THREADS = 4;
    private static final int ROUNDS = 60;
    private static final int OBJECTS = 2000;

    private static final Object MONITOR = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();
    static volatile Object sink;
    private static volatile boolean isOver;

    private Main() {}

    /** Obeys. */
    public static void main(String[] args) throws Exception {
        // Waits that have begun when the trace stops, and end while it has stopped.
        Thread[] waiting = waiting();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            switch (line) {
                case "work":
                    work();
                    break;
                case "release":
                    release(waiting);
                    break;
                case "more":
                    for (int i = 0; i < 1000; i++) {
                        sink = new More();
                    }
                    break;
                case "last":
                    for (int i = 0; i < 1000; i++) {
                        sink = new Last();
                    }
                    break;
                case "stay":
                    Thread.sleep(Long.MAX_VALUE);
                    break;
                default:
                    throw new IllegalArgumentException(line);
            }
            System.out.println(line + " done");
        }
        release(waiting);
        System.out.println("over");
    }

    private static Thread[] waiting() throws InterruptedException {
        Object released = MONITOR;
        Thread waits = new Thread(() -> {
            synchronized (released) {
                while (!isOver) {
                    try {
                        released.wait();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }
        }, "waits");
        Thread parks = new Thread(() -> {
            while (!isOver) {
                java.util.concurrent.locks.LockSupport.park(released);
            }
        }, "parks");
        for (Thread thread : new Thread[] {waits, parks}) {
            thread.start();
            while (thread.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
        return new Thread[] {waits, parks};
    }

    private static void release(Thread[] waiting) throws InterruptedException {
        isOver = true;
        synchronized (MONITOR) {
            MONITOR.notifyAll();
        }
        for (Thread thread : waiting) {
            java.util.concurrent.locks.LockSupport.unpark(thread);
            thread.join();
        }
    }

    private static void work() throws InterruptedException {
        for (int round = 0; round < ROUNDS; round++) {
            Object monitor = new Object();
            Thread[] threads = new Thread[THREADS];
            for (int i = 0; i < THREADS; i++) {
                threads[i] = new Thread(() -> work(monitor), "worker");
                threads[i].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            if (round % 10 == 0) {
                System.gc();
            }
        }
    }

    private static void work(Object monitor) {
        Object[] some = new Object[OBJECTS];
        for (int i = 0; i < OBJECTS; i++) {
            some[i] = new Early();
        }
        for (int i = 0; i < 5; i++) {
            synchronized (monitor) {
                sink = some;
                Thread.yield();
            }
            LOCK.lock();
            try {
                Thread.yield();
            } finally {
                LOCK.unlock();
            }
        }
    }
}
