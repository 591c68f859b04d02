package mechanisms;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.function.UnaryOperator;

/** Copies made by {@code clone}, which C2 makes without calling anything. */
final class Clones {
    static class Base implements Cloneable {
        int a = 1;

        @Override
        public Object clone() throws CloneNotSupportedException {
            return super.clone();
        }
    }

    static class Derived extends Base {
        Object b;

        @Override
        public Derived clone() throws CloneNotSupportedException {
            return (Derived) super.clone();
        }
    }

    static class Direct implements Cloneable {
        long value;

        Object copy() throws CloneNotSupportedException {
            return clone();
        }
    }

    static class Element {}

    enum Colour { RED, GREEN, BLUE }

    private static final Base BASE = new Base();
    private static final Base DERIVED = new Derived();
    private static final Direct DIRECT = new Direct();
    private static final int[] INTS = {1, 2, 3};
    private static final long[] LONGS = {1, 2, 3};
    private static final byte[] BYTES = new byte[100];
    private static final boolean[] BOOLEANS = new boolean[0];
    private static final Element[] REFERENCES = new Element[5];
    private static final float[][] GRID = new float[2][2];
    private static final HashMap<String, String> MAP = new HashMap<>();
    private static final ArrayList<String> LIST = new ArrayList<>(List.of("one"));
    private static final double[] DOUBLES = new double[3];
    private static final char[] CHARS = new char[3];
    private static final short[] SHORTS = {1, 2, 3};
    private static final MethodHandle CLONE = cloneOf(char[].class);

    private Clones() {}

    private static MethodHandle cloneOf(Class<?> array) {
        try {
            return MethodHandles.publicLookup().findVirtual(array, "clone", MethodType.methodType(Object.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @Makes("mechanisms.Clones$Base")
    static void objects(int n) throws CloneNotSupportedException {
        for (int i = 0; i < n; i++) {
            Sink.sink = BASE.clone();
        }
    }

    @Makes("mechanisms.Clones$Derived")
    static void derived(int n) throws CloneNotSupportedException {
        for (int i = 0; i < n; i++) {
            Sink.sink = DERIVED.clone();
        }
    }

    @Makes("mechanisms.Clones$Direct")
    static void withoutOverride(int n) throws CloneNotSupportedException {
        for (int i = 0; i < n; i++) {
            Sink.sink = DIRECT.copy();
        }
    }

    @Makes("int[]")
    static void ints(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = INTS.clone(); // site int[]
        }
    }

    @Makes("long[]")
    static void longs(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = LONGS.clone(); // site long[]
        }
    }

    @Makes("byte[]")
    static void bytes(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = BYTES.clone(); // site byte[]
        }
    }

    @Makes("boolean[]")
    static void empty(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = BOOLEANS.clone(); // site boolean[]
        }
    }

    @Makes("mechanisms.Clones$Element[]")
    static void references(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = REFERENCES.clone(); // site mechanisms.Clones$Element[]
        }
    }

    /** The rows are shared. */
    @Makes("float[][]")
    static void grids(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = GRID.clone(); // site float[][]
        }
    }

    @Makes("mechanisms.Clones$Colour[]")
    static void enumValues(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = Colour.values();
        }
    }

    @Makes("double[]")
    static void methodReferences(int n) {
        UnaryOperator<double[]> copy = double[]::clone;
        double[] original = DOUBLES;
        for (int i = 0; i < n; i++) {
            Sink.sink = copy.apply(original);
        }
    }

    @Makes("char[]")
    static void methodHandles(int n) throws Throwable {
        char[] original = CHARS;
        for (int i = 0; i < n; i++) {
            Sink.sink = (Object) CLONE.invokeExact(original);
        }
    }

    @Makes("java.util.HashMap")
    static void maps(int n) {
        HashMap<String, String> map = MAP;
        for (int i = 0; i < n; i++) {
            Sink.sink = map.clone();
        }
    }

    @Makes({"java.util.ArrayList", "java.lang.Object[]"})
    static void lists(int n) {
        ArrayList<String> list = LIST;
        for (int i = 0; i < n; i++) {
            Sink.sink = list.clone();
        }
    }

    @Makes("short[]")
    static void notEscaping(int n) {
        short[] original = SHORTS;
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += original.clone()[1]; // site short[]
        }
        if (sum == 1) {
            throw new AssertionError();
        }
    }
}
