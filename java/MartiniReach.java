package java.lang;

import jdk.internal.vm.annotation.Hidden;

/**
 * Shows whether the JVM finds the agent's functions: in a JVM that runs already, from a moment after the agent was attached. The other
 * helper classes bind theirs when they are initialised, which must not fail.
 */
final class MartiniReach {
    private MartiniReach() {}

    /** Does nothing; throws UnsatisfiedLinkError until it is found. */
    @Hidden
    static native void reach();
}
