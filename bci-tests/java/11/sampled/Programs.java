package sampled;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Allocates as many bytes of each of some sizes, from 16 bytes to 4 MiB, on each of two threads. Prints for each method how many
 * objects it made in all, and how large each is.
 */
final class Sizes {
    /** Bytes before the first element of an array. */
    private static final int HEADER = 16;

    private static volatile Object sink;

    private Sizes() {}

    private static void object() {
        sink = new Object();
    }

    private static void array100() {
        sink = new byte[104 - HEADER];
    }

    private static void array4k() {
        sink = new byte[(4 << 10) - HEADER];
    }

    private static void array64k() {
        sink = new byte[(64 << 10) - HEADER];
    }

    private static void array512k() {
        sink = new byte[(512 << 10) - HEADER];
    }

    private static void array4m() {
        sink = new byte[(4 << 20) - HEADER];
    }

    private static void run(long bytes) {
        for (long i = 0; i < bytes / 16; i++) object();
        for (long i = 0; i < bytes / 104; i++) array100();
        for (long i = 0; i < bytes / (4 << 10); i++) array4k();
        for (long i = 0; i < bytes / (64 << 10); i++) array64k();
        for (long i = 0; i < bytes / (512 << 10); i++) array512k();
        for (long i = 0; i < bytes / (4 << 20); i++) array4m();
    }

    /** The argument: how many bytes of each size each thread makes. */
    public static void main(String[] args) throws InterruptedException {
        long bytes = Long.parseLong(args[0]);
        Thread[] threads = {new Thread(() -> run(bytes), "sizes 0"), new Thread(() -> run(bytes), "sizes 1")};
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        print("object", bytes, 16);
        print("array100", bytes, 104);
        print("array4k", bytes, 4 << 10);
        print("array64k", bytes, 64 << 10);
        print("array512k", bytes, 512 << 10);
        print("array4m", bytes, 4 << 20);
    }

    private static void print(String method, long bytes, int size) {
        System.out.println(method + " " + 2 * (bytes / size) + " " + size);
    }
}

/**
 * Keeps what some methods make, and collects garbage at known times: {@code early} makes its objects before five collections,
 * {@code late} before two. Nothing of {@code churn} is kept, and of {@code half} every second one.
 */
final class Leak {
    private static final int SIZE = 1000;

    private static final List<Object> KEPT = new ArrayList<>();
    private static volatile Object sink;

    private Leak() {}

    private static Object early() {
        return new byte[SIZE - 16];
    }

    private static Object late() {
        return new byte[SIZE - 16];
    }

    private static Object half() {
        return new byte[SIZE - 16];
    }

    private static void churn() {
        sink = new byte[SIZE - 16];
    }

    private static void collect(int times) throws InterruptedException {
        for (int i = 0; i < times; i++) System.gc();
        // Whoever looks at what has died looks a moment later.
        Thread.sleep(200);
    }

    /** The argument: how many objects each method makes. */
    public static void main(String[] args) throws InterruptedException {
        int objects = Integer.parseInt(args[0]);
        for (int i = 0; i < objects; i++) {
            KEPT.add(early());
            churn();
        }
        collect(3);
        for (int i = 0; i < objects; i++) {
            KEPT.add(late());
            Object made = half();
            if (i % 2 == 0) KEPT.add(made);
            churn();
        }
        collect(2);
        System.out.println(KEPT.size() * SIZE);
    }
}

/** Starts threads, many of which live at the same time, and each of which makes the same. Arguments: how many, and how many bytes. */
final class Threads {
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

/** Throws exceptions from some depth. The argument: how many. */
final class Throws {
    private static volatile Object sink;

    private Throws() {}

    private static void deep(int depth) {
        if (depth == 0) throw new IllegalStateException();
        deep(depth - 1);
    }

    /** Does it. */
    public static void main(String[] args) {
        for (int i = Integer.parseInt(args[0]); i > 0; i--) {
            try {
                deep(50);
            } catch (IllegalStateException e) {
                sink = e;
            }
        }
    }
}
