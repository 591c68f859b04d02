package planted;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One planted problem, which is there when "up" is printed, and stays until standard input ends. The first argument names it.
 */
public final class Main {
    private static final Object LEFT = new Object();
    private static final Object RIGHT = new Object();
    private static final ReentrantLock POOL_LOCK = new ReentrantLock();
    private static final Semaphore PERMITS = new Semaphore(2);
    private static final List<Thread> WAITING = new ArrayList<>();
    private static final List<Listener> LISTENERS = new ArrayList<>();
    private static final ThreadLocal<List<Session>> CONTEXT = ThreadLocal.withInitial(ArrayList::new);
    private static volatile byte[] garbage;
    private static volatile boolean isLeaking;
    private static Runnable leak;
    private static int leakEndsAfter = 8;

    private Main() {
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "deadlock":
                deadlock();
                break;
            case "owner":
                owner();
                break;
            case "semaphore":
                semaphore();
                break;
            case "listeners":
                leak = () -> start("desk", Main::register);
                break;
            case "threadlocal":
                leak = Main::remember;
                break;
            case "classes":
                leak = () -> start("deployer", Main::redeploy);
                // Many are of the VM's own, for its memory for classes, in bursts.
                leakEndsAfter = 24;
                break;
            case "healthy":
                healthy();
                break;
            case "lock":
                Contended.lock();
                break;
            case "readwrite":
                Contended.readWrite();
                break;
            case "late":
                Late.begin();
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
        for (Thread thread : WAITING) {
            while (thread.getState() != Thread.State.BLOCKED && thread.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
        System.out.println("up");
        untilTold();
        // Threads that wait for ever keep no JVM alive that is told to end.
        System.out.println("over");
        System.exit(0);
    }

    /** A line begins the leak, if that is the problem, which ends with so many collections: so the heap has room for it. */
    private static void untilTold() throws Exception {
        while (System.in.read() >= 0) {
            if (leak == null) {
                continue;
            }
            long first = collections();
            isLeaking = true;
            leak.run();
            leak = null;
            while (collections() < first + leakEndsAfter) {
                Thread.sleep(1);
            }
            isLeaking = false;
            System.out.println("collected");
        }
    }

    private static long collections() {
        long count = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            count += collector.getCollectionCount();
        }
        return count;
    }

    static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void deadlock() {
        CountDownLatch both = new CountDownLatch(2);
        WAITING.add(start("debit", () -> transfer(LEFT, RIGHT, both)));
        WAITING.add(start("credit", () -> transfer(RIGHT, LEFT, both)));
    }

    private static void transfer(Object from, Object to, CountDownLatch both) {
        synchronized (from) {
            both.countDown();
            await(both);
            synchronized (to) {
                throw new AssertionError();
            }
        }
    }

    /** Nine threads of a pool of ten wait for the lock of the tenth, which waits for a database that does not answer. */
    private static void owner() {
        CountDownLatch held = new CountDownLatch(1);
        ExecutorService pool = Executors.newFixedThreadPool(10, task -> {
            Thread thread = new Thread(task, "worker-" + (WAITING.size() + 1));
            thread.setDaemon(true);
            WAITING.add(thread);
            return thread;
        });
        pool.execute(() -> {
            POOL_LOCK.lock();
            held.countDown();
            query();
        });
        await(held);
        for (int task = 0; task < 9; task++) {
            pool.execute(Main::borrow);
        }
    }

    private static void query() {
        CountDownLatch answer = new CountDownLatch(1);
        await(answer);
    }

    private static void borrow() {
        POOL_LOCK.lock();
        POOL_LOCK.unlock();
    }

    /** Two tasks have lost their permits, and eight wait for one. */
    private static void semaphore() {
        PERMITS.acquireUninterruptibly(2);
        for (int task = 0; task < 8; task++) {
            WAITING.add(start("request-" + task, Main::admit));
        }
    }

    private static void admit() {
        PERMITS.acquireUninterruptibly();
    }

    /** A listener in a registry for each order, and ten times as much garbage. */
    private static void register() {
        while (isLeaking) {
            for (int order = 0; order < 50; order++) {
                LISTENERS.add(new Listener(new byte[200]));
                churn(2_000);
            }
            pause(2);
        }
    }

    /** The class loaders of an application that is deployed again and again, and ten times as much garbage. */
    private static void redeploy() {
        while (isLeaking) {
            for (int deployment = 0; deployment < 5; deployment++) {
                Deployments.deploy();
                churn(100_000);
            }
            pause(2);
        }
    }

    /** Requests of a pool leave something behind in each of its threads. */
    private static void remember() {
        ExecutorService pool = Executors.newFixedThreadPool(4, task -> {
            Thread thread = new Thread(task, "request");
            thread.setDaemon(true);
            return thread;
        });
        start("requests", () -> {
            while (isLeaking) {
                for (int request = 0; request < 50; request++) {
                    pool.execute(Main::serve);
                }
                pause(2);
            }
        });
    }

    private static void serve() {
        CONTEXT.get().add(new Session(new byte[200]));
        churn(2_000);
    }

    private static void churn(int bytes) {
        garbage = new byte[bytes];
    }

    static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static final class Listener {
        private final byte[] state;

        Listener(byte[] state) {
            this.state = state;
        }
    }

    private static final class Session {
        private final byte[] state;

        Session(byte[] state) {
            this.state = state;
        }
    }

    /** A pool without work, and a thread that does a little now and then. */
    static void healthy() {
        ExecutorService pool = Executors.newFixedThreadPool(4, task -> {
            Thread thread = new Thread(task, "idle");
            thread.setDaemon(true);
            return thread;
        });
        for (int task = 0; task < 4; task++) {
            pool.execute(() -> { });
        }
        start("clock", () -> {
            try {
                while (true) {
                    Thread.sleep(50);
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
