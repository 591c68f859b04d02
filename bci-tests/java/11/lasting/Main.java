package lasting;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.ref.WeakReference;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * What lives and who waits is known at each moment: 1,000 objects that are held, 500 that only weak references reach, and two
 * threads that want a monitor whose owner sleeps.
 */
public final class Main {
    static final class Kept {}

    static final class Weak {}

    static final class Dropped {
        final byte[] bytes = new byte[100];
    }

    static final Object MONITOR = new Object();
    static final Kept[] KEPT = new Kept[1000];
    static final WeakReference<?>[] WEAK = new WeakReference<?>[500];
    static volatile Object sink;
    static Kept[] more;

    private Main() {}

    /** Makes garbage, or collects it, or keeps a million objects more, as each line asks; then ends as the last line asks, or returns. */
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < KEPT.length; i++) {
            KEPT[i] = new Kept();
        }
        blockTwo();
        switch (args.length > 0 ? args[0] : "") {
            case "server":
                serve();
                break;
            case "churn":
                churn();
                break;
            default:
        }
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            switch (line) {
                case "collect":
                    drop();
                    System.gc();
                    break;
                case "keep":
                    more = new Kept[1_000_000];
                    for (int i = 0; i < more.length; i++) {
                        more[i] = new Kept();
                    }
                    break;
                case "exit":
                    drop();
                    System.exit(7);
                    break;
                case "halt":
                    drop();
                    Runtime.getRuntime().halt(8);
                    break;
                default:
                    throw new IllegalArgumentException(line);
            }
            System.out.println(line + " done");
        }
        drop();
    }

    private static void drop() {
        for (int i = 0; i < WEAK.length; i++) {
            WEAK[i] = new WeakReference<>(new Weak());
            sink = new Dropped();
        }
        sink = null;
    }

    private static void blockTwo() throws InterruptedException {
        CountDownLatch owned = new CountDownLatch(1);
        start("t-owner", () -> {
            synchronized (MONITOR) {
                owned.countDown();
                sleep(Long.MAX_VALUE);
            }
        });
        owned.await();
        Runnable enter = () -> {
            synchronized (MONITOR) {
                throw new AssertionError("the owner sleeps");
            }
        };
        Thread[] waiters = {start("t-waiter-0", enter), start("t-waiter-1", enter)};
        for (Thread waiter : waiters) {
            while (waiter.getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
        }
        // A thread is blocked a moment before the JVM reports it.
        Thread.sleep(200);
    }

    /** As a server does: a thread keeps the JVM up until a signal comes, and ends before the hook that stops it does. */
    private static void serve() {
        CountDownLatch stopped = new CountDownLatch(1);
        Thread server = new Thread(() -> {
            try {
                stopped.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "t-server");
        server.start();
        Thread hook = new Thread(() -> {
            stopped.countDown();
            // The JVM's own end waits for the thread that handles the signal.
            while (!isBlocked("DestroyJavaVM")) {
                sleep(1);
            }
            // A thread is blocked a moment before the JVM reports it.
            sleep(200);
        });
        // The JVM's own end waits until no other thread is left that keeps it up.
        hook.setDaemon(true);
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private static boolean isBlocked(String name) {
        Set<Thread> threads = Thread.getAllStackTraces().keySet();
        return threads.stream().anyMatch(of -> of.getName().equals(name) && of.getState() == Thread.State.BLOCKED);
    }

    /** Threads that live for a moment, one after the other. */
    private static void churn() {
        start("t-churn", () -> {
            while (true) {
                Thread[] shortLived = new Thread[8];
                for (int i = 0; i < shortLived.length; i++) {
                    shortLived[i] = start("t-short", () -> sleep(1));
                }
                for (Thread thread : shortLived) {
                    try {
                        thread.join();
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            }
        });
    }

    private static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
