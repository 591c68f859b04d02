package callers;

import java.lang.management.ManagementFactory;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Calls three methods of the JDK that allocate, of which the JIT removes 10, 50 and 90 % of what it compiles. Of each, {@code lost} keeps no
 * object, {@code mixed} some, {@code most} and {@code few} all. Of each caller it prints the class, what it executes, and what the JVM accounts
 * to the thread meanwhile, in bytes.
 */
final class Removed {
    /** Calls of each method: the first ones are interpreted. */
    private static final int TURNS = 400;
    private static volatile Object sink;
    private static volatile long sum;

    private Removed() {}

    /** Makes objects, of which it drops so many and keeps so many. */
    interface Caller {
        void run(int drop, int keep);
    }

    static final class Ints {
        static void lost(int drop, int keep) {
            int all = 0;
            for (int i = 0; i < drop; i++) all += OptionalInt.of(i).getAsInt();
            sum = all;
        }

        static void mixed(int drop, int keep) {
            int all = 0;
            for (int i = 0; i < drop; i++) all += OptionalInt.of(i).getAsInt();
            sum = all;
            for (int i = 0; i < keep; i++) sink = OptionalInt.of(i);
        }

        static void most(int drop, int keep) {
            for (int i = 0; i < keep; i++) sink = OptionalInt.of(i);
        }

        static void few(int drop, int keep) {
            for (int i = 0; i < keep; i++) sink = OptionalInt.of(i);
        }
    }

    static final class Longs {
        static void lost(int drop, int keep) {
            long all = 0;
            for (int i = 0; i < drop; i++) all += OptionalLong.of(i).getAsLong();
            sum = all;
        }

        static void mixed(int drop, int keep) {
            long all = 0;
            for (int i = 0; i < drop; i++) all += OptionalLong.of(i).getAsLong();
            sum = all;
            for (int i = 0; i < keep; i++) sink = OptionalLong.of(i);
        }

        static void most(int drop, int keep) {
            for (int i = 0; i < keep; i++) sink = OptionalLong.of(i);
        }

        static void few(int drop, int keep) {
            for (int i = 0; i < keep; i++) sink = OptionalLong.of(i);
        }
    }

    static final class Doubles {
        static void lost(int drop, int keep) {
            double all = 0;
            for (int i = 0; i < drop; i++) all += OptionalDouble.of(i).getAsDouble();
            sum = (long) all;
        }

        static void mixed(int drop, int keep) {
            double all = 0;
            for (int i = 0; i < drop; i++) all += OptionalDouble.of(i).getAsDouble();
            sum = (long) all;
            for (int i = 0; i < keep; i++) sink = OptionalDouble.of(i);
        }

        static void most(int drop, int keep) {
            for (int i = 0; i < keep; i++) sink = OptionalDouble.of(i);
        }

        static void few(int drop, int keep) {
            for (int i = 0; i < keep; i++) sink = OptionalDouble.of(i);
        }
    }

    /** Of {@code all} objects {@code percent} are dropped, two thirds of them by the first caller; of the others the four have 0, 30, 60 and 10 %. */
    private static void run(String name, int size, int all, int percent, Caller... callers) {
        com.sun.management.ThreadMXBean accounts = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        int dropped = all / 100 * percent;
        int kept = all - dropped;
        int[][] objects = {{dropped / 3 * 2, 0}, {dropped / 3, kept / 10 * 3}, {0, kept / 10 * 6}, {0, kept / 10}};
        long[] accounted = new long[callers.length];
        for (int turn = 0; turn < TURNS; turn++) {
            for (int i = 0; i < callers.length; i++) {
                long before = accounts.getThreadAllocatedBytes(thread);
                callers[i].run(objects[i][0] / TURNS, objects[i][1] / TURNS);
                accounted[i] += accounts.getThreadAllocatedBytes(thread) - before;
            }
        }
        String[] names = {"lost", "mixed", "most", "few"};
        for (int i = 0; i < callers.length; i++) {
            long executed = (long) TURNS * size * (objects[i][0] / TURNS + objects[i][1] / TURNS);
            System.out.println(name + " " + names[i] + " " + executed + " " + accounted[i]);
        }
    }

    public static void main(String[] args) {
        int all = Integer.parseInt(args[0]);
        run("Ints", 24, all, 10, Ints::lost, Ints::mixed, Ints::most, Ints::few);
        run("Longs", 24, all, 50, Longs::lost, Longs::mixed, Longs::most, Longs::few);
        run("Doubles", 24, all, 90, Doubles::lost, Doubles::mixed, Doubles::most, Doubles::few);
    }
}
