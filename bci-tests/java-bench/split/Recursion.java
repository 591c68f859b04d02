package split;

import java.util.Map;

/** A method that calls itself twice, and one that goes 3,000 calls deep. */
final class Recursion {
    private Recursion() {}

    static Map<String, Split.Part> parts() {
        return Split.of(Wide.class, Wide::run, Deep.class, Deep::run);
    }

    static final class Wide {
        static long run(int chunks) {
            long sum = 0;
            for (int i = 0; i < chunks; i++) {
                sum += fib(27);
            }
            return sum;
        }

        private static int fib(int n) {
            return n < 2 ? n : fib(n - 1) + fib(n - 2);
        }
    }

    static final class Deep {
        static long run(int chunks) {
            long sum = 0;
            for (int i = 0; i < chunks; i++) {
                sum += dive(3_000, i);
            }
            return sum;
        }

        private static long dive(int left, long value) {
            for (int i = 0; i < 200; i++) {
                value = value * 31 + (value >>> 7);
            }
            return left == 0 ? value : dive(left - 1, value) + 1;
        }
    }
}
