package graph;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps objects of known number while other threads collect and allocate all the time, so that whatever is found of a heap after
 * its dump has been moved since.
 */
public final class Restless {
    static final class Known {
        final int number;
        final byte[] weight = new byte[100];

        Known(int number) {
            this.number = number;
        }
    }

    static Known[] known = new Known[5_000];
    static volatile byte[][] filled;
    static volatile Object[] churned;
    static volatile boolean goesOn = true;

    private Restless() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (int i = 0; i < known.length; i++) {
            known[i] = new Known(i);
            // What lies between them dies, so that they are moved.
            churned = new Object[50];
        }
        start(Restless::collect);
        start(Restless::churn);
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            fill();
            awaitRoom();
            System.out.println("fill done");
        }
        goesOn = false;
    }

    private static void start(Runnable body) {
        Thread thread = new Thread(() -> {
            while (goesOn) {
                try {
                    body.run();
                } catch (OutOfMemoryError e) {
                    // The heap is filled on purpose.
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static void collect() {
        System.gc();
        LockSupport.parkNanos(5_000_000);
    }

    private static void churn() {
        Object[] some = new Object[1_000];
        for (int i = 0; i < some.length; i++) {
            some[i] = new byte[i % 100];
        }
        churned = some;
        LockSupport.parkNanos(1_000_000);
    }

    private static void fill() {
        try {
            filled = new byte[10_000][];
            for (int i = 0; i < filled.length; i++) {
                filled[i] = new byte[50_000];
            }
        } catch (OutOfMemoryError e) {
            // As it should be.
        }
        filled = null;
    }

    /** A concurrent collector finds out later that the heap is empty again. */
    private static void awaitRoom() {
        for (int lucky = 0; lucky < 20; lucky++) {
            try {
                churned = new byte[100][50_000];
            } catch (OutOfMemoryError e) {
                lucky = 0;
            }
            LockSupport.parkNanos(1_000_000);
        }
    }
}
