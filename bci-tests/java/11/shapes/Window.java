package shapes;

/**
 * Brackets what one shape allocates on one thread, so that a trace can be compared with it exactly: in the trace the
 * thread's own events between the {@link Begin} and the {@link End} are this window's, whatever the JDK allocates
 * before, after and on other threads.
 */
final class Window {
    /** Opens a window. */
    static final class Begin {}

    /** Closes a window. */
    static final class End {}

    /** Keeps what the shapes allocate from being optimised away. */
    static volatile Object sink;

    /** Loads the markers before they mark anything: loading a class allocates. */
    private static final Class<?>[] MARKERS = {Begin.class, End.class};

    private static final Object PRINTING = new Object();

    private int index;

    /** Performs {@code shape} once outside and once inside a window, then prints what the window holds. */
    void run(Shape shape, int n) throws Throwable {
        if (shape.warm) {
            int warmUp = Math.min(n, 40);
            shape.prepare(warmUp);
            shape.make(warmUp);
        }
        shape.prepare(n);
        sink = new Begin();
        shape.make(n);
        sink = new End();
        Expect expected = new Expect();
        shape.expect(n, expected);
        print(shape, expected);
        index++;
    }

    private void print(Shape shape, Expect expected) {
        String thread = Thread.currentThread().getName();
        StringBuilder lines = new StringBuilder();
        lines.append("window\t").append(thread).append('\t').append(index).append('\t').append(shape.name)
                .append('\t').append(shape.exact ? "exact" : "own").append('\n');
        expected.appendTo(lines);
        synchronized (PRINTING) {
            System.out.print(lines);
            System.out.flush();
        }
    }
}
