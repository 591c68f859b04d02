package mechanisms;

/** Boxes beyond those that are cached. */
final class Boxes {
    private Boxes() {}

    @Makes("java.lang.Integer")
    static void ints(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = 1000 + i;
        }
    }

    @Makes("java.lang.Long")
    static void longs(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = 1000L + i;
        }
    }

    @Makes("java.lang.Short")
    static void shorts(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = (short) (1000 + (i & 0xFF));
        }
    }

    @Makes("java.lang.Character")
    static void chars(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = (char) (1000 + (i & 0xFF));
        }
    }

    @Makes("java.lang.Float")
    static void floats(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = 0.5f + i;
        }
    }

    @Makes("java.lang.Double")
    static void doubles(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = 0.5 + i;
        }
    }

    @Makes("java.lang.Long")
    static void notEscaping(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            Long box = 1000L + i;
            sum += box;
        }
        if (sum == 1) {
            throw new AssertionError();
        }
    }
}
