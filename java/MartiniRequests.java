package java.lang;

import jdk.internal.vm.annotation.Hidden;

/**
 * The side of {@code requests=on} that runs inside the profiled JVM: the methods that are entry points of requests call it.
 *
 * <p>The rules of {@link MartiniHeapProxy} hold: never rewritten, no constructor, nothing called but natives, nothing thrown,
 * no waiting, hidden.
 */
public final class MartiniRequests {
    /** False until the agent is ready to take reports, and when it takes none any more. */
    private static boolean on;

    /** Begins and ends that were not reported because the hook itself ran out of stack; a lower bound. */
    private static int lost;

    static {
        registerNatives();
    }

    private MartiniRequests() {}

    @Hidden
    private static native void registerNatives();

    /** The current thread has entered the entry point of that number. */
    @Hidden
    private static native void entered(int entry);

    /** It leaves it. */
    @Hidden
    private static native void left(int entry, boolean failed);

    /** Called at the beginning of an entry point. */
    @Hidden
    public static void begin(int entry) {
        if (on) {
            try {
                entered(entry);
            } catch (Throwable t) {
                lost++;
            }
        }
    }

    /** Called in front of each return; with -1 where that hands the request over to other threads. */
    @Hidden
    public static void end(int entry) {
        leave(entry, false);
    }

    /** Called when an exception leaves the entry point. */
    @Hidden
    public static void unwound(int entry) {
        leave(entry, true);
    }

    @Hidden
    private static void leave(int entry, boolean failed) {
        if (on) {
            try {
                left(entry, failed);
            } catch (Throwable t) {
                lost++;
            }
        }
    }
}
