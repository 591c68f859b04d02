package split;

import java.util.Map;

/** Two loops in one compiled method, in which a compiled thread looks at no safepoint (with a collector that lets it). */
final class Loops {
    private static final int TURNS = 500_000;

    private Loops() {}

    static Map<String, Split.Part> parts() {
        return Split.of(Sum.class, chunks -> both(chunks, 0), Mix.class, chunks -> both(0, chunks));
    }

    private static long both(int sums, int mixes) {
        long value = 1;
        for (int i = 0; i < sums; i++) {
            value = Sum.chunk(value);
        }
        for (int i = 0; i < mixes; i++) {
            value = Mix.chunk(value);
        }
        return value;
    }

    static final class Sum {
        static long chunk(long value) {
            for (int i = 0; i < TURNS; i++) {
                value = value * 31 + (value >>> 7) + i;
            }
            return value;
        }
    }

    static final class Mix {
        static long chunk(long value) {
            for (int i = 0; i < TURNS; i++) {
                value ^= value << 13;
                value ^= value >>> 7;
                value ^= value << 17;
            }
            return value;
        }
    }
}
