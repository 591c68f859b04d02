package java.lang;

import jdk.internal.vm.annotation.Hidden;

/**
 * The side of {@code warmup=on} inside the profiled JVM: the native method that gives an exception its stack is wrapped from here, since
 * the VM warns if others than the JDK do that.
 *
 * <p>The rules of {@link MartiniHeapProxy} hold: never rewritten, no constructor, nothing called but natives, nothing thrown,
 * no waiting, hidden.
 */
final class MartiniExceptions {
    static {
        registerNatives();
    }

    private MartiniExceptions() {}

    @Hidden
    private static native void registerNatives();

    /** Wraps the native method. */
    @Hidden
    static void wrap() {
        wrapNative();
    }

    @Hidden
    private static native void wrapNative();
}
