package split;

import java.util.Map;

/** Methods of strings and arrays that the JIT replaces by code or stubs of its own. */
final class Strings {
    private static final String LONG = "the quick brown fox jumps over the lazy dog ".repeat(2_000);

    private Strings() {}

    static Map<String, Split.Part> parts() {
        Map<String, Split.Part> parts = Split.of(Search.class, Search::run, Copies.class, Copies::run);
        parts.put(Equal.class.getName(), Equal::run);
        parts.put(Joined.class.getName(), Joined::run);
        return parts;
    }

    static final class Search {
        static long run(int chunks) {
            long sum = 0;
            for (int i = 0; i < chunks * 60; i++) {
                sum += LONG.indexOf("lazy cat", i & 7);
            }
            return sum;
        }
    }

    static final class Copies {
        static long run(int chunks) {
            byte[] from = new byte[32 << 10];
            byte[] to = new byte[from.length];
            for (int i = 0; i < chunks * 1_000; i++) {
                System.arraycopy(from, i & 63, to, 0, from.length - 64);
            }
            return to[17];
        }
    }

    static final class Equal {
        static long run(int chunks) {
            String other = new String(LONG.toCharArray());
            long sum = 0;
            for (int i = 0; i < chunks * 500; i++) {
                sum += other.equals(LONG) ? i : 0;
            }
            return sum;
        }
    }

    static final class Joined {
        static long run(int chunks) {
            long sum = 0;
            for (int i = 0; i < chunks * 40_000; i++) {
                sum += ("key" + i + "=" + (i ^ 5)).length();
            }
            return sum;
        }
    }
}
