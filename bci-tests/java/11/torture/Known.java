package torture;

/** What the programs make a known number of, whatever else happens meanwhile. */
public final class Known {
    /** Keeps the JIT from removing them. */
    public static volatile Known sink;

    final int value;

    /** One of them. */
    public Known(int value) {
        this.value = value;
    }
}
