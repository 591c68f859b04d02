package torture;

/** Objects that C2 removes, and makes again when the method has to go back to the interpreter. */
public final class Removed {
    private static final int TIMES = 30_000;

    private static final class Point {
        private final int x;
        private final Known known;

        Point(int x) {
            this.x = x;
            known = new Known(x);
        }
    }

    private Removed() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 3);
        long[] sums = new long[2];
        Say.together(2, number -> {
            long sum = 0;
            for (int round = 0; round < rounds; round++) {
                for (int i = 0; i < TIMES; i++) {
                    sum += of(i, i % 10_000 == 9_999, null);
                    synchronized (new Object()) {
                        sum += new int[] {i, round}.length;
                    }
                }
            }
            sums[number] = sum;
        });
        Say.end(sums[0] * 31 + sums[1], rounds * 2L * TIMES * 2);
    }

    /** The points escape only where nobody has been yet. */
    private static int of(int i, boolean rarely, Object[] out) {
        Point first = new Point(i);
        Point second = new Point(i + 1);
        if (rarely) {
            Object[] both = {first, second, out};
            Known.sink = ((Point) both[i & 1]).known;
        }
        return first.x + second.known.value;
    }
}
