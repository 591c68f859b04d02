package callers;

import java.io.CharArrayWriter;
import java.util.Arrays;
import java.util.BitSet;

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

/** Allocates in a method of the JDK that is called from 300 frames further in than the method that counts, and from 600. */
final class Deep {
    private static volatile Object sink;

    private Deep() {}

    private static void three(int copies) {
        down(300, copies);
    }

    private static void six(int copies) {
        down(600, copies);
    }

    private static void down(int frames, int copies) {
        if (frames > 0) {
            down(frames - 1, copies);
            return;
        }
        for (int i = 0; i < copies; i++) sink = Arrays.copyOf(new byte[0], 1000);
    }

    public static void main(String[] args) {
        int copies = Integer.parseInt(args[0]);
        // Samples of deep stacks are dear, so they soon become rare: each has its part of the first ones.
        for (int turn = 0; turn < 50; turn++) {
            three(copies / 50);
            six(copies / 50);
        }
    }
}

/**
 * A tree of 40 methods, each of which calls three others, down to 27 that allocate at one of three sites in the JDK, in known proportions
 * and sizes. It prints the method, the class of the arrays, how many they are, and their length.
 */
final class Tree {
    private static final double[] DOUBLES = new double[0];
    private static volatile Object sink;

    private Tree() {}

    private static void doubles(String by, int times, int length) {
        for (int i = 0; i < times; i++) sink = Arrays.copyOf(DOUBLES, length);
        System.out.println(by + " double[] " + times + " " + length);
    }

    private static void longs(String by, int times, int length) {
        for (int i = 0; i < times; i++) sink = new BitSet(64 * length);
        System.out.println(by + " long[] " + times + " " + length);
    }

    private static void chars(String by, int times, int length) {
        for (int i = 0; i < times; i++) sink = new CharArrayWriter(length);
        System.out.println(by + " char[] " + times + " " + length);
    }

    private static void c000(int times) {
        doubles("c000", 6 * times, 125);
    }

    private static void c001(int times) {
        longs("c001", 4 * times, 400);
    }

    private static void c002(int times) {
        chars("c002", 6 * times, 2000);
    }

    private static void b00(int times) {
        c000(times);
        c001(times);
        c002(times);
    }

    private static void c010(int times) {
        doubles("c010", 4 * times, 250);
    }

    private static void c011(int times) {
        longs("c011", 10 * times, 100);
    }

    private static void c012(int times) {
        chars("c012", 2 * times, 4000);
    }

    private static void b01(int times) {
        c010(times);
        c011(times);
        c012(times);
    }

    private static void c020(int times) {
        doubles("c020", 4 * times, 500);
    }

    private static void c021(int times) {
        longs("c021", 6 * times, 200);
    }

    private static void c022(int times) {
        chars("c022", 14 * times, 1000);
    }

    private static void b02(int times) {
        c020(times);
        c021(times);
        c022(times);
    }

    private static void a0(int times) {
        b00(times);
        b01(times);
        b02(times);
    }

    private static void c100(int times) {
        doubles("c100", 10 * times, 125);
    }

    private static void c101(int times) {
        longs("c101", 2 * times, 400);
    }

    private static void c102(int times) {
        chars("c102", 7 * times, 2000);
    }

    private static void b10(int times) {
        c100(times);
        c101(times);
        c102(times);
    }

    private static void c110(int times) {
        doubles("c110", 6 * times, 250);
    }

    private static void c111(int times) {
        longs("c111", 14 * times, 100);
    }

    private static void c112(int times) {
        chars("c112", 3 * times, 4000);
    }

    private static void b11(int times) {
        c110(times);
        c111(times);
        c112(times);
    }

    private static void c120(int times) {
        doubles("c120", 2 * times, 500);
    }

    private static void c121(int times) {
        longs("c121", 7 * times, 200);
    }

    private static void c122(int times) {
        chars("c122", 6 * times, 1000);
    }

    private static void b12(int times) {
        c120(times);
        c121(times);
        c122(times);
    }

    private static void a1(int times) {
        b10(times);
        b11(times);
        b12(times);
    }

    private static void c200(int times) {
        doubles("c200", 14 * times, 125);
    }

    private static void c201(int times) {
        longs("c201", 3 * times, 400);
    }

    private static void c202(int times) {
        chars("c202", 4 * times, 2000);
    }

    private static void b20(int times) {
        c200(times);
        c201(times);
        c202(times);
    }

    private static void c210(int times) {
        doubles("c210", 7 * times, 250);
    }

    private static void c211(int times) {
        longs("c211", 6 * times, 100);
    }

    private static void c212(int times) {
        chars("c212", 4 * times, 4000);
    }

    private static void b21(int times) {
        c210(times);
        c211(times);
        c212(times);
    }

    private static void c220(int times) {
        doubles("c220", 3 * times, 500);
    }

    private static void c221(int times) {
        longs("c221", 4 * times, 200);
    }

    private static void c222(int times) {
        chars("c222", 10 * times, 1000);
    }

    private static void b22(int times) {
        c220(times);
        c221(times);
        c222(times);
    }

    private static void a2(int times) {
        b20(times);
        b21(times);
        b22(times);
    }

    private static void root(int times) {
        a0(times);
        a1(times);
        a2(times);
    }

    public static void main(String[] args) {
        root(Integer.parseInt(args[0]));
    }
}
