package held;

/** A class that its own loader loads. */
public final class Loaded {
    static final byte[] KEPT = new byte[1000];

    /** One. */
    public Loaded() {}
}
