package stacks;

import java.lang.reflect.Method;
import java.util.Random;

/**
 * Walks the same paths through methods that call each other again and again, while they are interpreted, compiled, inlined and
 * thrown out of compiled code, and allocates at the end of each; says how often, and where, as an exception shows it.
 */
public final class Main {
    private static final int PATHS = 60;
    private static final int LENGTH = 12;

    static final class Marker {}

    /** What a call goes through; how many of its classes are loaded decides what the compiler may take for granted. */
    abstract static class Step {
        abstract Object go(int[] path, int at);
    }

    static final class Straight extends Step {
        @Override
        Object go(int[] path, int at) {
            return step(path, at);
        }
    }

    static final class Later extends Step {
        @Override
        Object go(int[] path, int at) {
            return step(path, at);
        }
    }

    private static Step one = new Straight();
    private static Step other = one;
    private static boolean throwing;
    private static boolean yield;
    private static volatile Object sink;
    private static Method reflected;

    private Main() {}

    static Object step(int[] path, int at) {
        if (at == path.length) {
            return throwing ? new Throwable() : new Marker();
        }
        if (yield && at == LENGTH / 2) {
            Thread.yield();
        }
        switch (path[at]) {
            case 0:
                return plain(path, at + 1);
            case 1:
                return many(path, at + 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
            case 2:
                return one.go(path, at + 1);
            case 3:
                return other.go(path, at + 1);
            case 4:
                return locked(path, at + 1);
            case 5:
                return caught(path, at + 1);
            case 6:
                return looped(path, at + 1);
            default:
                return step(path, at + 1);
        }
    }

    private static Object plain(int[] path, int at) {
        return step(path, at);
    }

    /** More arguments than there are registers. */
    private static Object many(int[] path, int at, int a, long b, int c, long d, int e, long f, int g, long h, int i, long j) {
        return a + b + c + d + e + f + g + h + i + j == 55 ? step(path, at) : null;
    }

    private static synchronized Object locked(int[] path, int at) {
        return step(path, at);
    }

    private static Object caught(int[] path, int at) {
        try {
            if (path.length == 0) {
                throw new IllegalStateException();
            }
            return step(path, at);
        } catch (IllegalStateException e) {
            return null;
        }
    }

    private static Object looped(int[] path, int at) {
        Object last = null;
        for (int i = 0; i < 3; i++) {
            if (i == 2) {
                last = step(path, at);
            }
        }
        return last;
    }

    static void run(int[] path) throws Exception {
        sink = (path[0] & 1) == 0 ? step(path, 0) : reflected.invoke(null, path, 0);
    }

    private static void work(int rounds) throws Exception {
        Random random = new Random(7);
        int[][] paths = new int[PATHS][];
        int[] done = new int[PATHS];
        for (int i = 0; i < PATHS; i++) {
            paths[i] = random.ints(LENGTH, 0, 8).toArray();
        }
        for (int round = 0; round < rounds; round++) {
            if (round == rounds / 2) {
                other = new Later();
            }
            // Some are walked early and often, others late.
            int path = random.nextInt(1 + random.nextInt(PATHS));
            run(paths[path]);
            done[path]++;
        }
        throwing = true;
        for (int i = 0; i < PATHS; i++) {
            run(paths[i]);
            StringBuilder line = new StringBuilder().append(done[i]);
            for (StackTraceElement frame : ((Throwable) sink).getStackTrace()) {
                line.append(' ').append(frame.getClassName()).append('.').append(frame.getMethodName());
                line.append(':').append(frame.getLineNumber());
            }
            System.out.println(line);
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        yield = args[1].equals("virtual");
        reflected = Main.class.getDeclaredMethod("step", int[].class, int.class);
        if (!yield) {
            work(rounds);
            return;
        }
        Runnable body = () -> {
            try {
                work(rounds);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        };
        ((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body)).join();
    }
}
