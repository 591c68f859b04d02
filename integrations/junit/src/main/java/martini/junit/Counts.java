package martini.junit;

/** What the agent has counted on the current thread. */
final class Counts {
    private Counts() {}

    /**
     * All that was counted so far, by class and site. From now on the agent also notes on which stacks the thread allocates, until
     * {@link #end}.
     *
     * @throws IllegalStateException if nothing is counted
     */
    static byte[] begin() {
        try {
            return known(before());
        } catch (UnsatisfiedLinkError e) {
            return known(null);
        }
    }

    /** The same later, with the stacks; null if nothing is counted any more. */
    static native byte[] end();

    /**
     * What {@link #end} gave.
     *
     * @throws IllegalStateException if that is nothing
     */
    static byte[] known(byte[] counts) {
        if (counts == null) {
            throw new IllegalStateException("nothing counts allocations in this JVM: start it with Martini's agent, as in"
                    + " -agentpath:/path/libmartini.so=heap=counts,file=tests-%p.trcxml");
        }
        return counts;
    }

    private static native byte[] before();
}
