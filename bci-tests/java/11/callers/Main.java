package callers;

import java.util.Arrays;

/**
 * Allocates in methods of the JDK, on behalf of methods that are called in known proportions: of each eight copies {@code one} makes one,
 * {@code two} makes two, {@code five} five, on each of three threads that start one after the other.
 */
public final class Main {
    private static final byte[] TEMPLATE = new byte[0];
    private static volatile Object sink;

    private Main() {}

    private static void one(int length) {
        sink = Arrays.copyOf(TEMPLATE, length);
    }

    private static void two(int length) {
        sink = Arrays.copyOf(TEMPLATE, length);
    }

    private static void five(int length) {
        sink = Arrays.copyOf(TEMPLATE, length);
    }

    private static void run(int rounds) {
        for (int i = 0; i < rounds; i++) {
            int length = i % 2 == 0 ? 200 : 2000;
            one(length);
            for (int j = 0; j < 2; j++) two(length);
            for (int j = 0; j < 5; j++) five(length);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int rounds = Integer.parseInt(args[0]);
        for (int number = 0; number < 3; number++) {
            Thread thread = new Thread(() -> run(rounds), "caller " + number);
            thread.start();
            thread.join();
        }
    }
}
