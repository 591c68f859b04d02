package java.lang;

import jdk.internal.vm.annotation.Hidden;

/**
 * Answers for class loaders that are asked for one of the agent's classes, which rewritten code names.
 *
 * <p>The JVM resolves each name in a class by {@code loadClass} of the class's loader, which may refuse the name, print it, count it or hang.
 * So each {@code loadClass} begins with a call of {@link #applies}, and if that says so returns what {@link #find} returns: of these
 * names no loader ever learns.
 *
 * <p>The rules of {@link MartiniHeapProxy} hold. This runs in every look-up of a class, from the first one on.
 */
public final class MartiniLoaders {
    /** Whether {@link MartiniCounts} is defined. Set by the agent. */
    private static boolean counts;

    /** Whether {@link MartiniHeapProxy} is defined. Set by the agent. */
    private static boolean proxy;

    /** Whether {@link MartiniRequests} is defined. Set by the agent. */
    private static boolean requests;

    private MartiniLoaders() {}

    /** Whether a class of that name is one of the agent's. */
    @Hidden
    public static boolean applies(String name) {
        return find(name) != null;
    }

    /** The agent's class of that name, or null. */
    @Hidden
    public static Class<?> find(String name) {
        if ("java.lang.MartiniCounts".equals(name)) return counts ? MartiniCounts.class : null;
        if ("java.lang.MartiniHeapProxy".equals(name)) return proxy ? MartiniHeapProxy.class : null;
        if ("java.lang.MartiniRequests".equals(name)) return requests ? MartiniRequests.class : null;
        return "java.lang.MartiniLoaders".equals(name) ? MartiniLoaders.class : null;
    }
}
