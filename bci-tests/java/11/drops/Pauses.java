package drops;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

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
