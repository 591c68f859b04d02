package waits;

import java.util.concurrent.locks.LockSupport;

/** Threads park and end all the time, also while the JVM goes down, beside many that are parked. */
public final class Late {
    private static final int PARKED = 300;
    private static final int STARTERS = 4;

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < STARTERS; i++) {
            start(Late::startOthers);
        }
        for (int i = 0; i < PARKED; i++) {
            start(LockSupport::park);
        }
        Thread.sleep(500);
    }

    private static void startOthers() {
        for (;;) {
            start(() -> LockSupport.parkNanos(1_000_000));
            LockSupport.parkNanos(200_000);
        }
    }

    private static void start(Runnable body) {
        Thread thread = new Thread(body);
        thread.setDaemon(true);
        thread.start();
    }
}
