package sampled;

import java.util.concurrent.CountDownLatch;

/** Starts threads, many of which live at the same time, and each of which makes the same. Arguments: how many, and how many bytes. */
public final class Threads {
    private static volatile Object sink;

    private Threads() {}

    private static void allocate(int bytes) {
        for (int i = 0; i < bytes / 1000; i++) sink = new byte[1000 - 16];
    }

    /** Does it. */
    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = new Thread[Integer.parseInt(args[0])];
        int bytes = Integer.parseInt(args[1]);
        CountDownLatch begin = new CountDownLatch(1);
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(null, () -> {
                try {
                    begin.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                allocate(bytes);
            }, "thread " + i, 128 << 10);
            threads[i].start();
        }
        begin.countDown();
        for (Thread thread : threads) thread.join();
    }
}
