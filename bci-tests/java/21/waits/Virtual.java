package waits;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/** What {@link Main} does, with virtual threads; lines as there. */
public final class Virtual {
    /** Virtual threads that went on on another carrier than the one on which they came to wait. */
    private static final AtomicInteger MOVED = new AtomicInteger();

    private Virtual() {}

    public static void main(String[] args) throws Exception {
        if (args[0].equals("classes")) {
            // What virtual threads need is initialised by then.
            start("t-before", () -> {}).join();
            Main.classes(() -> {
                start("t-needs", Main::needsClass).join();
                return null;
            });
            return;
        }
        int parks = Integer.parseInt(args[0]);
        int enters = Integer.parseInt(args[1]);
        park(parks);
        enter(enters);
        owned();
    }

    /** The thread that carries this one: {@code VirtualThread[#22,t-enter-0]/runnable@ForkJoinPool-1-worker-3}. */
    private static String carrier() {
        String shown = Thread.currentThread().toString();
        return shown.substring(shown.indexOf('@') + 1);
    }

    private static Thread start(String name, Runnable body) {
        return Thread.ofVirtual().name(name).start(body);
    }

    /** Virtual threads that find a lock taken by the first thread. */
    private static void park(int number) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        Thread[] threads = new Thread[number];
        lock.lock();
        for (int i = 0; i < number; i++) {
            threads[i] = start("t-lock-" + i, () -> {
                lock.lock();
                lock.unlock();
            });
        }
        for (Thread thread : threads) {
            Main.reaches(thread, Thread.State.WAITING);
        }
        lock.unlock();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** The same with a monitor. */
    private static void enter(int number) throws Exception {
        Main.Monitor monitor = new Main.Monitor();
        Thread[] threads = new Thread[number];
        synchronized (monitor) {
            for (int i = 0; i < number; i++) {
                threads[i] = start("t-enter-" + i, () -> {
                    String before = carrier();
                    Main.enter(monitor, "main");
                    if (!carrier().equals(before)) {
                        MOVED.incrementAndGet();
                    }
                });
                Main.reaches(threads[i], Thread.State.BLOCKED);
            }
            // A thread is blocked before the wait is reported. From JDK 24 on it leaves its carrier afterwards.
            if (Runtime.version().feature() < 24) {
                Thread.sleep(500);
            } else {
                while (Stream.of(threads).anyMatch(thread -> thread.toString().contains("@"))) {
                    Thread.sleep(1);
                }
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** A virtual thread that holds a monitor while it waits for something else. */
    private static void owned() throws Exception {
        Main.Monitor monitor = new Main.Monitor();
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        Thread owner = start("t-virtual-owner", () -> {
            synchronized (monitor) {
                held.countDown();
                // Runs on, so that it stays on its carrier on every JDK.
                while (release.getCount() > 0) {
                    Thread.onSpinWait();
                }
            }
        });
        held.await();
        Thread waiter = Main.start("t-enter-owned", () -> Main.enter(monitor, "t-virtual-owner"));
        Main.until(waiter, Thread.State.BLOCKED);
        release.countDown();
        waiter.join();
        owner.join();
        System.out.println("moved " + MOVED.get());
    }
}

/** What {@link Names} does, with virtual threads. */
final class VirtualNames {
    private VirtualNames() {}

    public static void main(String[] args) throws Exception {
        Names.threads = body -> Thread.ofVirtual().unstarted(body);
        Names.main(args);
    }
}
