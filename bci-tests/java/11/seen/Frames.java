package seen;

import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs out of stack where it allocates and where it parks, at depths at which different methods find no room, and prints which methods of
 * the agent's it sees in the stack traces.
 */
public class Frames {
    static final Set<String> FOUND = new TreeSet<>();
    static volatile Object sink;
    static long overflows;

    static void look(StackTraceElement[] frames) {
        for (StackTraceElement frame : frames) {
            if (frame.getClassName().contains("Martini")) FOUND.add(frame.getClassName() + "." + frame.getMethodName());
        }
    }

    static void instances(int depth) {
        sink = new Object();
        instances(depth + 1);
    }

    static void arrays(int depth) {
        sink = new byte[depth & 15];
        sink = new String[2][1];
        arrays(depth + 1);
    }

    static void clones(int[] original) {
        sink = original.clone();
        clones(original);
    }

    static void parks(int depth) {
        // A thread with a permit does not wait.
        LockSupport.unpark(Thread.currentThread());
        LockSupport.parkNanos(1);
        parks(depth + 1);
    }

    static void overflow(Runnable deep) {
        for (int round = 0; round < 5; round++) {
            // Another depth at each round, so that another method is the one that finds no room.
            below(round, deep);
        }
    }

    static void below(int frames, Runnable deep) {
        if (frames > 0) {
            below(frames - 1, deep);
            return;
        }
        try {
            deep.run();
        } catch (StackOverflowError error) {
            overflows++;
            look(error.getStackTrace());
        }
    }

    public static void main(String[] args) throws Exception {
        Thread deep = new Thread(null, () -> {
            overflow(() -> instances(0));
            overflow(() -> arrays(0));
            overflow(() -> clones(new int[3]));
            overflow(() -> parks(0));
        }, "deep", 256 << 10);
        deep.start();
        deep.join();
        System.out.println("overflows " + overflows);
        System.out.println("found " + FOUND);
    }
}
