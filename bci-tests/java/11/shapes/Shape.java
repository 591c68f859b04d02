package shapes;

/** One way to allocate objects, and the truth about how many of which class that makes. */
abstract class Shape {
    /** What it is called in the output. */
    final String name;

    /** Whether the window holds nothing but what {@link #expect} says; otherwise other classes may appear. */
    final boolean exact;

    /** Whether it is performed once before it is measured, so that classes are loaded and call sites linked. */
    final boolean warm;

    Shape(String name, boolean exact, boolean warm) {
        this.name = name;
        this.exact = exact;
        this.warm = warm;
    }

    /** A shape of which every allocation is known. */
    static final boolean EXACT = true;

    /** A shape of which only the named classes are known. */
    static final boolean OWN = false;

    Shape(String name, boolean exact) {
        this(name, exact, true);
    }

    /** Gets ready outside of the window. */
    void prepare(int n) throws Throwable {}

    /** Allocates; {@code n} is the number of rounds. */
    abstract void make(int n) throws Throwable;

    /** What the last {@link #make} allocated. */
    abstract void expect(int n, Expect expected);
}
