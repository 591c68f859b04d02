package mechanisms;

/** Arrays of one dimension, made by bytecode. */
final class NewArrays {
    static class Element {}

    private NewArrays() {}

    @Makes("boolean[]")
    static void booleans(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new boolean[i & 7]; // site boolean[]
        }
    }

    @Makes("byte[]")
    static void bytes(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new byte[i & 7]; // site byte[]
        }
    }

    @Makes("char[]")
    static void chars(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new char[i & 7]; // site char[]
        }
    }

    @Makes("short[]")
    static void shorts(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new short[i & 7]; // site short[]
        }
    }

    @Makes("int[]")
    static void ints(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new int[i & 7]; // site int[]
        }
    }

    @Makes("long[]")
    static void longs(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new long[i & 7]; // site long[]
        }
    }

    @Makes("float[]")
    static void floats(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new float[i & 7]; // site float[]
        }
    }

    @Makes("double[]")
    static void doubles(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new double[i & 7]; // site double[]
        }
    }

    @Makes("mechanisms.NewArrays$Element[]")
    static void references(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new Element[3]; // site mechanisms.NewArrays$Element[]
        }
    }

    @Makes("mechanisms.NewArrays$Element[][]")
    static void ofArrays(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new Element[3][]; // site mechanisms.NewArrays$Element[][]
        }
    }

    @Makes("short[]")
    static void initialised(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new short[] {1, 2, (short) i}; // site short[]
        }
    }

    /** Too large for a thread's allocation buffer, most of the time. */
    @Makes(value = "long[]", oneIn = 100)
    static void large(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new long[100_000]; // site long[]
        }
    }

    @Makes("double[]")
    static void notEscaping(int n) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            double[] pair = {i, n}; // site double[]
            sum += pair[0] * pair[1];
        }
        if (sum == 1) {
            throw new AssertionError();
        }
    }

    private static int count(Element... elements) {
        Sink.sink = elements;
        return elements.length;
    }

    @Makes("mechanisms.NewArrays$Element[]")
    static void variableArguments(int n) {
        for (int i = 0; i < n; i++) {
            count(null, null, null); // site mechanisms.NewArrays$Element[]
        }
    }
}
