package martini.junit;

/** What the agent has counted on the current thread. */
final class Counts {
    private Counts() {}

    /** All that was counted so far, by class and site; fails if nothing is counted. */
    static byte[] now() {
        byte[] counts;
        try {
            counts = read();
        } catch (UnsatisfiedLinkError e) {
            counts = null;
        }
        if (counts == null) {
            throw new IllegalStateException("nothing counts allocations in this JVM: start it with Martini's agent, as in"
                    + " -agentpath:/path/libmartini.so=heap=counts,file=tests-%p.trcxml");
        }
        return counts;
    }

    /** The agent's; null if it counts nothing. */
    private static native byte[] read();
}
