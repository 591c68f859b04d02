package split;

import java.util.Map;

/** What a virtual thread does on its carrier. */
final class Virtual {
    private Virtual() {}

    static Map<String, Split.Part> parts() {
        return Split.of(Even.class, Even::run, Odd.class, Odd::run);
    }

    static final class Even {
        static long run(int chunks) {
            long value = 5;
            for (long i = 0; i < chunks * 400_000L; i++) {
                value = value * 31 + (value >>> 7);
            }
            return value;
        }
    }

    static final class Odd {
        static long run(int chunks) {
            long sum = 0;
            for (int i = 0; i < chunks; i++) {
                sum += hailstone(i + 27);
            }
            return sum;
        }

        private static long hailstone(long from) {
            long steps = 0;
            for (long start = from; start < from + 8_000; start++) {
                for (long n = start; n > 1; n = (n & 1) == 0 ? n >> 1 : 3 * n + 1) {
                    steps++;
                }
            }
            return steps;
        }
    }
}
