package split;

import java.util.Map;

/** Exceptions with a stack, which the VM walks, and one without, for which it only leaves one frame after the other. */
final class Exceptions {
    private Exceptions() {}

    static Map<String, Split.Part> parts() {
        Map<String, Split.Part> parts = Split.of(Thrown.class, Thrown::run, Passed.class, Passed::run);
        parts.put(Plain.class.getName(), Plain::run);
        return parts;
    }

    static final class Thrown {
        static long run(int chunks) {
            long sum = 0;
            for (int i = 0; i < chunks * 300; i++) {
                try {
                    sum += dive(30, i);
                } catch (IllegalStateException e) {
                    sum++;
                }
            }
            return sum;
        }

        private static int dive(int left, int value) {
            if (left == 0) {
                throw new IllegalStateException();
            }
            return dive(left - 1, value) + 1;
        }
    }

    static final class Passed {
        private static final RuntimeException READY = new RuntimeException("ready", null, false, false) {};

        static long run(int chunks) {
            long sum = 0;
            for (int i = 0; i < chunks * 800; i++) {
                try {
                    sum += dive(20, i);
                } catch (RuntimeException e) {
                    sum++;
                }
            }
            return sum;
        }

        private static int dive(int left, int value) {
            if (left == 0) {
                throw READY;
            }
            return dive(left - 1, value) + 1;
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
