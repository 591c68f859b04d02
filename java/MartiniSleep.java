package java.lang;

import jdk.internal.vm.annotation.Hidden;

/**
 * The side of {@code locks=on} that sees threads sleep inside the profiled JVM: {@code VirtualThread.sleepNanos} calls it. The sleep
 * of platform threads is a native method, which is wrapped.
 *
 * <p>The rules of {@link MartiniHeapProxy} hold: never rewritten, no constructor, nothing called but natives, nothing thrown,
 * no waiting, hidden.
 */
final class MartiniSleep {
    /** Sleeps that were not reported because the hook itself ran out of stack; a lower bound. */
    private static int lost;

    static {
        registerNatives();
    }

    private MartiniSleep() {}

    @Hidden
    private static native void registerNatives();

    /** Wraps the native method by which platform threads sleep; from here, since the VM warns if others than the JDK do that. */
    @Hidden
    static void wrap() {
        wrapNative();
    }

    @Hidden
    private static native void wrapNative();

    /** The current thread is about to sleep. */
    @Hidden
    private static native void begin();

    /** The current thread continues. */
    @Hidden
    private static native void end();

    /** Called at the beginning of {@code VirtualThread.sleepNanos}. */
    @Hidden
    static void sleepNanos(long nanos) {
        if (nanos > 0) {
            try {
                begin();
            } catch (Throwable t) {
                lost++;
            }
        }
    }

    /** Called at the end of it. */
    @Hidden
    static void slept() {
        try {
            end();
        } catch (Throwable t) {
            lost++;
        }
    }
}
