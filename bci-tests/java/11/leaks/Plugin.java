package leaks;

/** What each loader loads anew, with all that its class keeps. */
public final class Plugin {
    /** Of the class, not of an object: it stays as long as the loader does. */
    static final byte[] TABLE = new byte[20_000];

    /** One plugin. */
    public Plugin() {}
}
