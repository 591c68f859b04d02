package removed;

import java.lang.reflect.Array;
import java.util.Arrays;

/**
 * Objects that no other method ever sees, so that C2 removes them if it may, and objects that only HotSpot's intrinsics make;
 * {@value #TIMES} of each.
 */
public final class Main {
    static final int TIMES = 200_000;

    private static int sum;

    private Main() {}

    static final class Plain {
        final int value;

        Plain(int value) {
            this.value = value;
        }
    }

    static final class Copied implements Cloneable {
        int value;

        Copied copy() {
            try {
                return (Copied) clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        protected Object clone() throws CloneNotSupportedException {
            return super.clone();
        }
    }

    static final class Many {
        final int[] values;

        Many(int... values) {
            this.values = values;
        }
    }

    static final class Element {}

    static final class Reflected {}

    private static void plain() {
        for (int i = 0; i < TIMES; i++) sum += new Plain(i).value;
    }

    private static void array() {
        for (int i = 0; i < TIMES; i++) {
            short[] array = new short[4];
            array[1] = (short) i;
            sum += array[1];
        }
    }

    private static void boxed() {
        for (int i = 0; i < TIMES; i++) {
            Long box = i + 1000L;
            sum += box.intValue();
        }
    }

    private static void cloned() {
        Copied original = new Copied();
        for (int i = 0; i < TIMES; i++) sum += original.copy().value;
    }

    private static void clonedArray() {
        float[] original = new float[3];
        for (int i = 0; i < TIMES; i++) sum += original.clone().length;
    }

    private static void copiedArray() {
        Element[] original = new Element[3];
        for (int i = 0; i < TIMES; i++) sum += Arrays.copyOf(original, 4).length;
    }

    private static void reflectedArray() {
        for (int i = 0; i < TIMES; i++) sum += ((Reflected[]) Array.newInstance(Reflected.class, 2)).length;
    }

    private static void varargs() {
        for (int i = 0; i < TIMES; i++) sum += new Many(i, i).values[1];
    }

    private static void grid() {
        for (int i = 0; i < TIMES; i++) sum += new double[2][3].length;
    }

    private static void built() {
        for (int i = 0; i < TIMES; i++) sum += new StringBuilder().append(i).append('x').toString().length();
    }

    public static void main(String[] arguments) {
        plain();
        array();
        boxed();
        cloned();
        clonedArray();
        copiedArray();
        reflectedArray();
        varargs();
        grid();
        built();
        System.out.println(sum);
    }
}
