package java.lang;

/**
 * The self-test of the agent's stack walker: methods that call each other, first interpreted and then compiled, and have their stack
 * compared with what the JVM says.
 */
final class MartiniWalk {
    /** Enough for the JIT's first compiler, which needs 200 calls of a method. */
    private static final int ROUNDS = 2_000;

    private static final int ROUNDS_BETWEEN = 100;

    private static final int DEPTH = 3;

    private MartiniWalk() {}

    private static native void compare();

    static void run() {
        int calls = 0;
        for (int round = 0; round < ROUNDS; round++) {
            calls += call(round, DEPTH);
        }
        if (calls != ROUNDS * (DEPTH + 1)) {
            throw new InternalError();
        }
    }

    private static int call(int round, int depth) {
        if (depth > 0) {
            return 1 + call(round, depth - 1);
        }
        return end(round);
    }

    private static int end(int round) {
        if (round % ROUNDS_BETWEEN == 0) {
            compare();
        }
        return 1;
    }
}
