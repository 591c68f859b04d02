package split;

import java.util.Map;

/** Small methods that are inlined, four deep, into one loop: whose instructions they are is in the debug information alone. */
final class Inlined {
    private static final long TURNS = 200_000;

    private Inlined() {}

    static Map<String, Split.Part> parts() {
        return Split.of(Left.class, chunks -> both(chunks, 0), Right.class, chunks -> both(0, chunks));
    }

    private static long both(int left, int right) {
        return Right.many(Left.many(3, left), right);
    }

    static final class Left {
        /** The loop is of the part, too. */
        static long many(long value, int chunks) {
            for (long i = 0; i < chunks * TURNS; i++) {
                value = first(value);
            }
            return value;
        }

        static long first(long value) {
            return second(value + 1);
        }

        static long second(long value) {
            return third(value ^ (value >>> 11));
        }

        static long third(long value) {
            return value * 6364136223846793005L + 1;
        }
    }

    static final class Right {
        /** The loop is of the part, too. */
        static long many(long value, int chunks) {
            for (long i = 0; i < chunks * TURNS; i++) {
                value = first(value);
            }
            return value;
        }

        static long first(long value) {
            return second(value) + 7;
        }

        static long second(long value) {
            return third(value, (value & 15) + 3);
        }

        static long third(long value, long by) {
            return value / by + (value << 9);
        }
    }
}
