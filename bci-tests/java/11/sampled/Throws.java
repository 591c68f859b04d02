package sampled;

/** Throws exceptions from some depth. The argument: how many. */
public final class Throws {
    private static volatile Object sink;

    private Throws() {}

    private static void deep(int depth) {
        if (depth == 0) throw new IllegalStateException();
        deep(depth - 1);
    }

    /** Does it. */
    public static void main(String[] args) {
        for (int i = Integer.parseInt(args[0]); i > 0; i--) {
            try {
                deep(50);
            } catch (IllegalStateException e) {
                sink = e;
            }
        }
    }
}
