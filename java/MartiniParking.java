package java.lang;

/**
 * The side of {@code juc=on} that runs inside the profiled JVM: {@code LockSupport} tells it of each park.
 *
 * <p>The rules of {@link MartiniHeapProxy} hold: never rewritten, no constructor, nothing called but intrinsics and
 * natives, nothing thrown. It parks nobody.
 */
public final class MartiniParking {
    /** False until the agent reports. */
    private static boolean on;

    /** Parks that could not be handed over because the hook itself ran out of stack; a lower bound. */
    private static int lost;

    static {
        registerNatives();
    }

    private MartiniParking() {}

    private static native void registerNatives();

    /** The thread, which is the current one, parks; without a limit 0 nanoseconds. */
    private static native void begin(Thread thread, Object blocker, long nanos);

    /** The current thread goes on. */
    private static native void end(boolean interrupted);

    // At the beginning of LockSupport's methods. Those without a blocker leave it in a field of the thread, if there is one.

    public static void park(Object blocker) {
        if (on) parks(blocker, 0);
    }

    public static void parkNanos(Object blocker, long nanos) {
        if (on && nanos > 0) parks(blocker, nanos);
    }

    public static void parkUntil(Object blocker, long deadline) {
        if (on) {
            long millis = deadline - System.currentTimeMillis();
            parks(blocker, millis <= 0 ? 1 : millis < Long.MAX_VALUE / 1000000 ? millis * 1000000 : Long.MAX_VALUE);
        }
    }

    public static void park() {
        if (on) parks(null, 0);
    }

    public static void parkNanos(long nanos) {
        if (on && nanos > 0) parks(null, nanos);
    }

    public static void parkUntil(long deadline) {
        if (on) parkUntil(null, deadline);
    }

    private static void parks(Object blocker, long nanos) {
        try {
            begin(Thread.currentThread(), blocker, nanos);
        } catch (Throwable t) {
            lost++;
        }
    }

    /** At the end of each of them. */
    public static void parked() {
        if (on) {
            try {
                end(Thread.currentThread().isInterrupted());
            } catch (Throwable t) {
                lost++;
            }
        }
    }
}
