package idioms;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Bytes that one round of each idiom allocates once it is compiled, by the JVM's own account: what the JIT removes costs none.
 * Prints {@code IDIOM BYTES}.
 */
public final class Main {
    /** Long enough to reach C2 in one call, short enough to come back while the machine is busy. */
    private static final int ROUNDS = 10_000;
    /** Nanoseconds; idioms that take longer to settle are printed as they are. */
    private static final long PATIENCE = 20_000_000_000L;

    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long SELF = Thread.currentThread().getId();

    private static long best(Idiom idiom, int tries) {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < tries; i++) {
            long before = THREADS.getThreadAllocatedBytes(SELF);
            idiom.code.run(ROUNDS);
            best = Math.min(best, THREADS.getThreadAllocatedBytes(SELF) - before);
        }
        return best;
    }

    /** Compilers run in the background: the least is reached when it has stayed the same for twice as long as it took to reach it. */
    private static double settled(Idiom idiom) throws InterruptedException {
        long begin = System.nanoTime(), reached = begin, best = Long.MAX_VALUE;
        long now;
        do {
            long next = best(idiom, 20);
            now = System.nanoTime();
            if (next < best) {
                best = next;
                reached = now;
            }
            Thread.sleep(1);
        } while (now - reached < 300_000_000L + 2 * (reached - begin) && now - begin < PATIENCE);
        return (double) best / ROUNDS;
    }

    public static void main(String[] words) throws Exception {
        List<Idiom> all = new ArrayList<>();
        for (String name : new String[] {"Functions", "Values", "SmallArrays", "Handles", "Records", "Patterns", "Newest"}) {
            try {
                Class<?> group = Class.forName("idioms." + name);
                all.addAll(Arrays.asList((Idiom[]) group.getMethod("all").invoke(null)));
            } catch (ClassNotFoundException | UnsupportedClassVersionError e) {
                // Of a newer JDK.
            }
        }
        for (Idiom idiom : all) {
            if (words.length == 0 || Arrays.asList(words).contains(idiom.name)) {
                System.out.println(idiom.name + " " + Math.round(settled(idiom)));
            }
        }
    }
}
