package martini.junit;

import java.util.List;

/** What was allocated of one class at one site, called from one line. */
final class Site {
    private static final String[] NOT_OWN = {"java.", "javax.", "jdk.", "sun.", "com.sun.", "org.junit.", "org.opentest4j."};

    final String type;
    /** The class whose code allocates; {@code ?} if the JVM does. */
    final String code;
    /** As {@code class.method:line}. */
    private final String at;
    /** The same of the innermost line outside of the JDK, and of the test that calls it; null if not known. */
    private final String own, test;
    final long objects;
    final long bytes;

    private Site(String type, String code, String at, String own, String test, long objects, long bytes) {
        this.type = type;
        this.code = code;
        this.at = at;
        this.own = own;
        this.test = test;
        this.objects = objects;
        this.bytes = bytes;
    }

    /** By class, class and method of the site, and its line; and the frames of a stack from the innermost one on, if one was seen. */
    static Site of(List<String> columns, List<String> frames, long objects, long bytes) {
        String own = null;
        String outermost = null;
        String test = null;
        for (String frame : frames) {
            if (isOurs(type(frame))) {
                test = outermost;
                break;
            }
            if (isOwn(frame)) {
                own = own == null ? frame : own;
                outermost = frame;
            }
        }
        String at = columns.get(1) + "." + columns.get(2) + ":" + columns.get(3);
        if (own == null ? isOwn(at) : method(own).equals(method(at))) {
            own = at;
        }
        if (test != null && outer(test).equals(outer(own))) {
            test = null;
        }
        return new Site(columns.get(0), columns.get(1), at, own, test, objects, bytes);
    }

    private static boolean isOurs(String code) {
        return code.equals(AllocationBudgetExtension.class.getName()) || code.equals(Allocations.class.getName());
    }

    private static boolean isOwn(String frame) {
        for (String prefix : NOT_OWN) {
            if (frame.startsWith(prefix)) {
                return false;
            }
        }
        return !frame.startsWith("?");
    }

    /** Without the line. */
    private static String method(String frame) {
        return frame.substring(0, frame.lastIndexOf(':'));
    }

    private static String type(String frame) {
        return frame.substring(0, method(frame).lastIndexOf('.'));
    }

    /** The class in whose file the frame is. */
    private static String outer(String frame) {
        return type(frame).split("\\$", 2)[0];
    }

    /** What tells it from other sites in a message. */
    String place() {
        // Classes of the JDK may have no line numbers.
        String at = this.at.replace(":?", "");
        if (own == null) {
            return code.equals("?") ? "a line that is not known" : at + " (called from a line that is not known)";
        }
        String place = own;
        if (!own.equals(this.at) && !code.equals("?")) {
            place += " (in " + at.substring(code.lastIndexOf('.') + 1) + ")";
        }
        return test == null ? place : place + ", from " + test;
    }

    /** Another number of the same. */
    Site with(long objects, long bytes) {
        return new Site(type, code, at, own, test, objects, bytes);
    }

    @Override
    public String toString() {
        return String.format("%,d %s (%,d bytes) at %s", objects, type, bytes, place());
    }
}
