package mechanisms;

import java.nio.charset.StandardCharsets;

/** Strings made otherwise, and what is made of strings. */
final class Strings {
    private static final char[] LATIN = {'a', 'b', 'c'};
    private static final char[] FAR = {'a', '\u4e16', '\u754c'};
    private static final byte[] BYTES = {'a', 'b', 'c'};
    private static final int[] CODE_POINTS = {'a', 0x1F600};
    private static String word = "some words";

    private Strings() {}

    @Makes({"java.lang.String", "byte[]"})
    static void ofChars(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new String(LATIN); // site java.lang.String
        }
    }

    @Makes("java.lang.String")
    static void ofWideChars(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new String(FAR); // site java.lang.String
        }
    }

    @Makes({"java.lang.String", "byte[]"})
    static void ofBytes(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new String(BYTES, StandardCharsets.ISO_8859_1); // site java.lang.String
        }
    }

    @Makes("java.lang.String")
    static void ofCodePoints(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new String(CODE_POINTS, 0, 2); // site java.lang.String
        }
    }

    @Makes("char[]")
    static void toChars(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = word.toCharArray();
        }
    }

    @Makes("byte[]")
    static void toBytes(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = word.getBytes(StandardCharsets.UTF_8);
        }
    }

    @Makes({"java.lang.String", "byte[]"})
    static void substring(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = word.substring(2, 5);
        }
    }

    @Makes({"java.lang.String", "byte[]"})
    static void repeat(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = word.repeat(3);
        }
    }

    /** The JVM makes a string for each constant when it is first used. */
    @Makes({"java.lang.String"})
    static void constants(int n) {
        Forged.strings(n).run();
    }
}
