package java.lang;

import jdk.internal.vm.annotation.Hidden;

/**
 * The side of {@code juc=on} that runs inside the profiled JVM: {@code LockSupport} calls it for each park.
 *
 * <p>The rules of {@link MartiniHeapProxy} hold: never rewritten, no constructor, nothing called but intrinsics and
 * natives, nothing thrown, no waiting, hidden. It never parks a thread itself.
 */
public final class MartiniParking {
    /** False until the agent is ready to take reports. */
    private static boolean on;

    /** Parks that were not reported because the hook itself ran out of stack; a lower bound. */
    private static int lost;

    static {
        registerNatives();
    }

    private MartiniParking() {}

    @Hidden
    private static native void registerNatives();

    /** The current thread is about to park for at most that many nanoseconds; 0 means no limit. */
    @Hidden
    private static native void begin(Thread thread, Object blocker, long nanos);

    /** The current thread continues. */
    @Hidden
    private static native void end(boolean interrupted);

    // Called at the beginning of LockSupport's methods. Without a parameter the blocker, if any, is in a field of the thread.

    @Hidden
    public static void park(Object blocker) {
        if (on) parks(blocker, 0);
    }

    @Hidden
    public static void parkNanos(Object blocker, long nanos) {
        if (on && nanos > 0) parks(blocker, nanos);
    }

    @Hidden
    public static void parkUntil(Object blocker, long deadline) {
        if (on) {
            long millis = deadline - System.currentTimeMillis();
            parks(blocker, millis <= 0 ? 1 : millis < Long.MAX_VALUE / 1000000 ? millis * 1000000 : Long.MAX_VALUE);
        }
    }

    @Hidden
    public static void park() {
        if (on) parks(null, 0);
    }

    @Hidden
    public static void parkNanos(long nanos) {
        if (on && nanos > 0) parks(null, nanos);
    }

    @Hidden
    public static void parkUntil(long deadline) {
        if (on) parkUntil(null, deadline);
    }

    @Hidden
    private static void parks(Object blocker, long nanos) {
        try {
            begin(Thread.currentThread(), blocker, nanos);
        } catch (Throwable t) {
            lost++;
        }
    }

    /** Called at the end of each of these methods. */
    @Hidden
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
