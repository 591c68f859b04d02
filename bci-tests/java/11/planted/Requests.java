package planted;

import java.util.concurrent.CountDownLatch;

/**
 * Requests of which the first runs a static initialiser that takes long, and the tenth waits for a monitor. They are served when a line comes,
 * and "served" is printed.
 */
public final class Requests {
    private static final int INITIALISES_MILLIS = 400;
    private static final int HOLDS_MILLIS = 300;
    private static final int SERVED = 100;
    private static final int HELD_UP = 10;
    private static final Object STOCK = new Object();
    private static volatile int sum;

    private Requests() {
    }

    /** It is first used two frames below the entry point. */
    private static final class Tariff {
        static final int BASE = calculate();

        private static int calculate() {
            Main.pause(INITIALISES_MILLIS);
            return 17;
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("up");
        while (System.in.read() != '\n') continue;
        for (int number = 1; number <= SERVED; number++) {
            if (number == HELD_UP) hold();
            serve(number);
        }
        System.out.println("served");
        while (System.in.read() >= 0) continue;
        System.out.println("over");
    }

    /** The entry point. */
    private static void serve(int number) {
        int price = price(number);
        synchronized (STOCK) {
            sum += price;
        }
    }

    private static int price(int number) {
        return tariff() * number;
    }

    private static int tariff() {
        return Tariff.BASE;
    }

    /** Another thread has the stock when this returns, until some time after this one has begun to wait for it. */
    private static void hold() throws InterruptedException {
        Thread serving = Thread.currentThread();
        CountDownLatch holds = new CountDownLatch(1);
        Main.start("holder", () -> {
            synchronized (STOCK) {
                holds.countDown();
                while (serving.getState() != Thread.State.BLOCKED) Main.pause(1);
                Main.pause(HOLDS_MILLIS);
            }
        });
        holds.await();
    }
}
