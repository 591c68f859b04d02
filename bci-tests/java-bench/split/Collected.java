package split;

import java.util.Map;

/** Objects that live for a while, so that the collector's threads have as much to do as the program. */
final class Collected {
    private Collected() {}

    static Map<String, Split.Part> parts() {
        return Split.of(Garbage.class, Garbage::run, Plain.class, Plain::run);
    }

    static final class Garbage {
        private static final Object[][] LIVE = new Object[400_000][];

        static long run(int chunks) {
            long sum = 0;
            int at = 0;
            for (int i = 0; i < chunks * 60_000; i++) {
                at = (at + 7_919) % LIVE.length;
                LIVE[at] = new Object[] {LIVE[(at + 1) % LIVE.length], null, null, null};
                LIVE[at][0] = null;
                sum += LIVE[at].length;
            }
            return sum;
        }
    }

    static final class Plain {
        static long run(int chunks) {
            long value = 5;
            for (long i = 0; i < chunks * 400_000L; i++) {
                value = value * 31 + (value >>> 7);
            }
            return value;
        }
    }
}
