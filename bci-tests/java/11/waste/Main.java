package waste;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;

/** A heap with waste of known size: says "before", waits for a line, plants, says "held", waits again. */
public final class Main {
    private Main() {}

    /** Counted apart from the JDK's own. */
    static final class Rows extends ArrayList<Object> {
        private static final long serialVersionUID = 1;

        Rows(int places) {
            super(places);
        }
    }

    /** Counted apart from the JDK's own. */
    static final class Index extends HashMap<Object, Object> {
        private static final long serialVersionUID = 1;

        Index(int places) {
            super(places);
        }
    }

    static Object[] planted;

    private static void plant() {
        byte[] text = "planted, many times!".getBytes(StandardCharsets.ISO_8859_1);
        planted = new Object[2010];
        int next = 0;
        for (int count = 0; count < 1000; count++) {
            planted[next++] = new String(text, StandardCharsets.ISO_8859_1);
        }
        for (int count = 0; count < 300; count++) {
            planted[next++] = new Rows(16);
        }
        for (int count = 0; count < 200; count++) {
            Index index = new Index(64);
            index.put(planted, planted);
            planted[next++] = index;
        }
        for (int count = 0; count < 500; count++) {
            planted[next++] = Long.valueOf(123_456_789_012L);
        }
        for (int count = 0; count < 10; count++) {
            Rows full = new Rows(4);
            full.add(planted);
            planted[next++] = full;
        }
    }

    /** Plants between two lines. */
    public static void main(String[] args) throws Exception {
        // The cache of small numbers is there from now on.
        planted = new Object[] {Long.valueOf(1)};
        System.out.println("before");
        System.in.read();
        plant();
        System.out.println("held");
        System.in.read();
    }
}
