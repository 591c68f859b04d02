package busy;

import java.util.ArrayList;
import java.util.List;

/** Works until its standard input ends: threads allocate, compute and wait for one lock. Prints "up", and at last "over". */
public final class Main {
    private static volatile boolean isOver;
    static volatile Object kept;
    private static long sum;

    private Main() {}

    private static void work() {
        while (!isOver) {
            allocate();
            add();
        }
    }

    /** Entered again and again: a method that runs while its class is rewritten goes on as it was. */
    private static void allocate() {
        for (int number = 0; number < 1_000; number++) {
            kept = new byte[1_000];
        }
    }

    private static synchronized void add() {
        for (long round = 0; round < 100_000; round++) {
            sum += (sum ^ round) % 7;
        }
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < 2; number++) {
            Thread thread = new Thread(Main::work, "busy-" + number);
            thread.start();
            threads.add(thread);
        }
        System.out.println("up");
        while (System.in.read() >= 0) {
            // Until its end.
        }
        isOver = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("over");
    }
}
