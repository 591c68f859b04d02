package torture;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Ends of a JVM that many threads want at once; the second argument says which. */
public final class Exits {
    private static volatile Object sink;

    private Exits() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int threads = Say.scaled(args, 20);
        Object lock = new Object();
        for (int i = 0; i < 4; i++) {
            Thread daemon = new Thread(() -> {
                while (true) {
                    synchronized (lock) {
                        sink = new Object[] {new Known(1), sink == null};
                    }
                    LockSupport.parkNanos(10_000);
                }
            }, "daemon-" + i);
            daemon.setDaemon(true);
            daemon.start();
        }
        Thread hook = new Thread(() -> {
            for (int i = 0; i < 1_000; i++) {
                sink = new Known(i);
            }
        }, "hook");
        try {
            Runtime.getRuntime().addShutdownHook(hook);
        } catch (IllegalStateException e) {
            // A signal has ended it already.
            return;
        }
        Say.line("ends");
        CountDownLatch all = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> {
                all.countDown();
                try {
                    all.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                end(args[1]);
            }, "ending-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        all.await();
        switch (args[1]) {
            case "return":
                return;
            case "throw":
                throw new IllegalStateException("thrown on purpose");
            default:
                // Somebody else ends it.
                Thread.sleep(60_000);
        }
    }

    private static void end(String how) {
        switch (how) {
            case "exit":
                System.exit(7);
                break;
            case "halt":
                Runtime.getRuntime().halt(8);
                break;
            default:
                sink = new Known(2);
                break;
        }
    }
}
