package waits;

/** What {@link Names} does, with virtual threads. */
public final class VirtualNames {
    private VirtualNames() {}

    public static void main(String[] args) throws Exception {
        Names.threads = body -> Thread.ofVirtual().unstarted(body);
        Names.main(args);
    }
}
