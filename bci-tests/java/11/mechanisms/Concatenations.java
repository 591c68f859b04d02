package mechanisms;

/** Concatenation by invokedynamic. */
final class Concatenations {
    private static String word = "word";
    private static String far = "\u4e16\u754c";

    private Concatenations() {}

    @Makes({"java.lang.String", "byte[]"})
    static void two(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = "a" + word;
        }
    }

    @Makes({"java.lang.String", "byte[]"})
    static void withInt(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = word + (100 + i) + "z";
        }
    }

    @Makes({"java.lang.String", "byte[]"})
    static void many(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = word + i + 'c' + (i & 1) + word + ((i & 1) == 0) + 7L * i;
        }
    }

    @Makes({"java.lang.String", "byte[]"})
    static void utf16(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = far + i + word;
        }
    }

    @Makes({"java.lang.String", "byte[]"})
    static void notEscaping(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += (word + i).length();
        }
        if (sum == 1) {
            throw new AssertionError();
        }
    }
}
