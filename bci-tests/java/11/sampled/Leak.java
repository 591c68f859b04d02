package sampled;

import java.util.ArrayList;
import java.util.List;

/**
 * Keeps what some methods make, and collects garbage at known times: {@code early} makes its objects before five collections,
 * {@code late} before two. Nothing of {@code churn} is kept, and of {@code half} every second one.
 */
public final class Leak {
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
