package seen;

/** Fills the heap but for what its own end takes, and never asks for more than there is. */
public class Full {
    /** Bytes left. */
    private static final long LEFT = 6_000;

    static final byte[][] KEPT = new byte[1 << 16][];

    public static void main(String[] args) {
        Runtime runtime = Runtime.getRuntime();
        int kept = 0;
        int size = 1 << 16;
        while (size >= 64) {
            long free = runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory();
            if (free > size + LEFT) {
                KEPT[kept++] = new byte[size];
            } else {
                size /= 2;
            }
        }
        System.out.println("full");
    }
}
