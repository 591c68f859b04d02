package drops;

import java.lang.ref.WeakReference;
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
