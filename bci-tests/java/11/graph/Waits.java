package graph;

import java.util.ArrayList;
import java.util.List;

/** Threads that wait for a moment on an object of their own again and again, while others compute and the heap is collected. */
public final class Waits {
    private static final int THREADS = 32;
    private static final int BUSY_THREADS = 8;
    private static final int COLLECTIONS = 8;

    private static volatile boolean isOver;

    private Waits() {}

    private static void work() {
        while (!isOver) {
            Object own = new Object();
            synchronized (own) {
                try {
                    own.wait(1);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    private static void compute() {
        while (!isOver) {
            // Whoever is woken takes the place of another thread.
        }
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < THREADS; number++) {
            threads.add(new Thread(Waits::work, "waits-" + number));
        }
        for (int number = 0; number < BUSY_THREADS; number++) {
            threads.add(new Thread(Waits::compute, "computes-" + number));
        }
        for (Thread thread : threads) thread.start();
        for (int number = 0; number < COLLECTIONS; number++) {
            Thread.sleep(50);
            System.gc();
        }
        isOver = true;
        for (Thread thread : threads) thread.join();
    }
}
