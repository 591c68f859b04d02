package mechanisms;

/** String concatenation as compilers for Java 8 write it, which C2 replaces as a whole. */
final class Chains {
    private Chains() {}

    @Makes({"java.lang.String", "java.lang.StringBuilder"})
    static void plus(int n) {
        String tail = String.valueOf(n);
        for (int i = 0; i < n; i++) {
            Sink.sink = "a" + tail + "b"; // site java.lang.StringBuilder
        }
    }

    @Makes({"java.lang.String", "java.lang.StringBuilder"})
    static void plusInt(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = "round " + i; // site java.lang.StringBuilder
        }
    }

    @Makes({"java.lang.String", "java.lang.StringBuilder"})
    static void byHand(int n) {
        String tail = String.valueOf(n);
        for (int i = 0; i < n; i++) {
            Sink.sink = new StringBuilder().append("x").append(tail).append(i).append('y') // site java.lang.StringBuilder
                    .toString();
        }
    }
}
