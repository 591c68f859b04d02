package java.lang;

/** What the rewritten classes of the tests call. Counts without locks: that much only shows that calls were made. */
public final class MartiniProbe {
    /** Arrays seen. */
    public static long arrays;
    /** Times that a {@code new} was passed, with its site number. */
    public static long news;
    /** Constructors that ended. */
    public static long objects;

    private MartiniProbe() {}

    public static void array(Object array) {
        arrays++;
    }

    public static void fresh(int site) {
        news++;
    }

    public static void object(Object object) {
        objects++;
    }
}
