package drops;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Allocates known sets of its own classes, lets known members of them go, collects a known number of times, and prints
 * its own recount of who lives and how old they are. Argument: members per class and step.
 */
public final class Main {
    private static final int STEPS = 5;

    static class Kept {}

    static class Dropped {
        Dropped twin;
    }

    static class EveryThird {
        long value;
    }

    static class Staggered {
        final Object[] payload = null;
    }

    static class Late {}

    static class Chained {
        final Chained next;

        Chained(Chained next) {
            this.next = next;
        }
    }

    static class Watched {}

    static class Watcher extends WeakReference<Watched> {
        Watcher(Watched watched) {
            super(watched);
        }
    }

    static class Grid {}

    static class Finalized {
        private static final AtomicInteger FINALIZED = new AtomicInteger();

        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() {
            FINALIZED.incrementAndGet();
        }
    }

    private static final Pauses PAUSES = new Pauses();
    private static Cohort kept;
    private static Cohort dropped;
    private static Cohort everyThird;
    private static Cohort staggered;
    private static Cohort late;
    private static Cohort chained;
    private static Cohort watched;
    private static Cohort watchers;
    private static Cohort finalized;
    private static Cohort rows;
    private static Cohort grids;
    private static Chained chain;

    private Main() {}

    /** Runs the program. */
    public static void main(String[] args) throws Exception {
        int members = Integer.parseInt(args[0]);
        kept = cohort(Kept.class, members);
        dropped = cohort(Dropped.class, members);
        everyThird = cohort(EveryThird.class, members);
        staggered = cohort(Staggered.class, members);
        late = cohort(Late.class, members);
        chained = cohort(Chained.class, members);
        watched = cohort(Watched.class, members);
        watchers = cohort(Watcher.class, members);
        finalized = cohort(Finalized.class, members);
        rows = cohort(Kept[].class, members);
        grids = cohort(Grid[][].class, members);

        // One collection to get rid of what the start left behind.
        collect();
        for (int step = 0; step < STEPS; step++) {
            long pauses = PAUSES.count();
            long young = Pauses.young();
            allocate(step, members, pauses);
            if (PAUSES.count() != pauses || Pauses.young() != young) {
                System.out.println("disturbed\tthe JVM collected on its own in step " + step);
                return;
            }
            drop(step, members);
            collect();
        }
        // What waits for its finalizer survives one collection more. The JVM's finalizer thread may not even know of it yet.
        while (Finalized.FINALIZED.get() < (members + 1) / 2) {
            System.runFinalization();
            Thread.sleep(10);
        }
        // The thread lets go of the last one soon after.
        Thread.sleep(50);
        collect();
        collect();
        long pauses = PAUSES.count();
        Cohort[] all = {
            kept, dropped, everyThird, staggered, late, chained, watched, watchers, finalized, rows, grids
        };
        for (Cohort cohort : all) {
            cohort.print(pauses, PAUSES.known());
        }
        System.out.println("collections\t" + (STEPS + 3));
        System.out.println("pauses\t" + (PAUSES.known() ? pauses : "-"));
        System.out.println("done");
    }

    private static Cohort cohort(Class<?> type, int members) {
        return new Cohort(type.getTypeName(), STEPS * members);
    }

    private static void allocate(int step, int members, long pauses) {
        for (int i = 0; i < members; i++) {
            kept.add(new Kept(), pauses);
            if (i % 2 == 0) { // two at a time: as many members as the other cohorts
                Dropped one = new Dropped();
                Dropped two = new Dropped();
                one.twin = two;
                two.twin = one;
                dropped.add(one, pauses);
                dropped.add(two, pauses);
            }
            everyThird.add(new EveryThird(), pauses);
            staggered.add(new Staggered(), pauses);
            if (step >= 3) {
                late.add(new Late(), pauses);
            }
            chain = new Chained(chain);
            chained.add(null, pauses);
            Watched seen = new Watched();
            watched.add(null, pauses);
            watchers.add(new Watcher(seen), pauses);
            if (step == 0) {
                finalized.add(new Finalized(), pauses);
            }
            grids.add(new Grid[2][i % 3], pauses);
            rows.add(new Kept[i % 4], pauses);
        }
    }

    private static void drop(int step, int members) {
        int first = step * members;
        dropped.drop(first, first + members, 1);
        everyThird.drop(first, first + members, 3);
        if (step >= 2) {
            staggered.drop(first - 2 * members, first - members, 1);
        }
        if (step == 2) {
            chain = null;
            chained.drop(0, chained.size(), 1);
        }
        watched.drop(first, first + members, 1);
        if (step == 1) {
            finalized.drop(0, finalized.size(), 2);
        }
        rows.drop(first, first + members, 2);
        grids.drop(first, first + members, 5);
    }

    private static void collect() {
        System.gc();
    }
}

/** All members of one class in the order of their birth: who is kept, and how old each is. */
final class Cohort {
    private final String name;
    private final Object[] members;
    private final long[] pausesAtBirth;
    private final BitSet dropped = new BitSet();
    private int size;

    Cohort(String name, int capacity) {
        this.name = name;
        members = new Object[capacity];
        pausesAtBirth = new long[capacity];
    }

    /** Takes in a member that was born while the JVM had paused {@code pauses} times. */
    void add(Object member, long pauses) {
        members[size] = member;
        pausesAtBirth[size] = pauses;
        size++;
    }

    /** Lets go of the members {@code from} to {@code to}, each {@code step}th of them. */
    void drop(int from, int to, int step) {
        for (int i = from; i < to; i += step) {
            members[i] = null;
            dropped.set(i);
        }
    }

    int size() {
        return size;
    }

    /** Prints the recount: total, live, sum of the ages of the live, number of different ages; then who was dropped. */
    void print(long pausesNow, boolean agesKnown) {
        long ageSum = 0;
        long[] ages = new long[size];
        int live = 0;
        for (int i = 0; i < size; i++) {
            if (!dropped.get(i)) {
                ages[live] = pausesNow - pausesAtBirth[i];
                ageSum += ages[live];
                live++;
            }
        }
        long generations = Arrays.stream(ages, 0, live).distinct().count();
        System.out.println("class\t" + name + '\t' + size + '\t' + live + '\t' + (agesKnown ? ageSum : "-") + '\t'
                + (agesKnown ? generations : "-"));
        StringBuilder freed = new StringBuilder("freed\t").append(name).append('\t');
        dropped.stream().forEach(i -> freed.append(i).append(' '));
        System.out.println(freed);
    }
}

/**
 * How many stop-the-world collections this JVM has finished, by its own count. A call of {@code System.gc()} is one of
 * them with Serial, Parallel and G1, and several short ones with ZGC and Shenandoah.
 */
final class Pauses {
    private final List<GarbageCollectorMXBean> beans = new ArrayList<>();
    private final boolean known;

    Pauses() {
        boolean counted = true;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            String name = bean.getName();
            // Parallel counts the scavenge before its full collection apart, though both are one pause.
            boolean isConcurrent = name.startsWith("ZGC") || name.startsWith("Shenandoah");
            if (isConcurrent ? name.endsWith("Pauses") : isOld(name)) {
                beans.add(bean);
            }
            // JDK 11 counts ZGC's cycles only, each of which has three pauses or more.
            counted &= !name.equals("ZGC");
        }
        known = counted;
    }

    /** Whether this JVM counts its pauses at all. */
    boolean known() {
        return known;
    }

    /** The count. */
    long count() {
        long count = 0;
        for (GarbageCollectorMXBean bean : beans) {
            count += bean.getCollectionCount();
        }
        return count;
    }

    /** Collections of the young generation outside of full ones; the program is small enough to need none. */
    static long young() {
        long count = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            String name = bean.getName();
            if (name.equals("Copy") || name.equals("PS Scavenge") || name.equals("G1 Young Generation")) {
                count += bean.getCollectionCount();
            }
        }
        return count;
    }

    private static boolean isOld(String name) {
        return name.equals("MarkSweepCompact") || name.equals("PS MarkSweep") || name.equals("G1 Old Generation");
    }
}
