package sampled;

/**
 * Allocates as many bytes of each of some sizes, from 16 bytes to 4 MiB, on each of two threads. Prints for each method how many
 * objects it made in all, and how large each is.
 */
public final class Sizes {
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
