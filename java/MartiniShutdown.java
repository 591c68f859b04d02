package java.lang;

import jdk.internal.vm.annotation.Hidden;

/**
 * The side of {@code live=true} and of heap dumps that runs inside the profiled JVM: the last of the JDK's own shutdown hooks,
 * after all those of the program.
 */
final class MartiniShutdown implements Runnable {
    /** The last place for such hooks; the JDK uses the first three. */
    private static final int LAST = 9;

    private static boolean registered;

    private MartiniShutdown() {}

    @Hidden
    static void register() {
        if (!registered) {
            Shutdown.add(LAST, false, new MartiniShutdown());
            registered = true;
        }
    }

    @Hidden
    @Override
    public native void run();
}
