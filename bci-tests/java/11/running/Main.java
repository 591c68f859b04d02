package running;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import sun.misc.Signal;

/** Threads that run: all the time, in the collector's hands, now and then, and for a moment each. Prints what they came to. */
public final class Main {
    private static final int SHORT = 200;
    private static volatile boolean isOver;
    static volatile Object kept;

    private Main() {}

    /** The sum of all remainders, so that no loop is left out. */
    static long compute(long rounds) {
        long sum = 0;
        for (long round = 1; round <= rounds; round++) {
            sum += (sum ^ round) % 7;
        }
        return sum;
    }

    private static void allocate() {
        byte[][] living = new byte[2_000][];
        for (int number = 0; number < 100_000; number++) {
            living[number % living.length] = new byte[1_000];
        }
        kept = living;
    }

    public static void main(String[] args) throws Exception {
        long millis = Long.parseLong(args[0]);
        List<Thread> threads = new ArrayList<>();
        threads.add(start("r-compute", () -> compute(1_000_000)));
        threads.add(start("r-allocate", Main::allocate));
        threads.add(start("r-sometimes", () -> {
            compute(100_000);
            LockSupport.parkNanos(2_000_000);
        }));
        Thread parked = new Thread(() -> {
            while (!isOver) {
                LockSupport.park();
            }
        }, "r-parked");
        parked.start();
        threads.add(parked);
        Thread.sleep(millis);
        isOver = true;
        LockSupport.unpark(parked);
        for (Thread thread : threads) {
            thread.join();
        }
        for (int number = 0; number < SHORT; number++) {
            Thread thread = new Thread(() -> compute(300_000), "r-short-" + number);
            thread.start();
            thread.join();
        }
        System.out.println("= " + compute(1_000));
    }

    private static Thread start(String name, Runnable body) {
        Thread thread = new Thread(() -> {
            while (!isOver) {
                body.run();
            }
        }, name);
        thread.start();
        return thread;
    }
}

/** A program that handles SIGPROF itself, from a moment on. */
final class OwnSignal {
    private OwnSignal() {}

    public static void main(String[] args) throws Exception {
        long sum = Main.compute(20_000_000);
        AtomicInteger handled = new AtomicInteger();
        Signal.handle(new Signal("PROF"), signal -> handled.incrementAndGet());
        Thread.sleep(1_000);
        int before = handled.get();
        sum += Main.compute(200_000_000);
        int others = handled.get() - before;
        Signal.raise(new Signal("PROF"));
        while (handled.get() == before + others) {
            Thread.sleep(1);
        }
        System.out.println("= " + sum + " and " + others + " signals of others");
    }
}
