package callers;

import java.util.Arrays;

/** Allocates in a method of the JDK that is called from 300 frames further in than the method that counts, and from 600. */
public final class Deep {
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
