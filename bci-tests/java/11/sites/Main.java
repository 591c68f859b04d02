package sites;

/** Allocates the same things at every depth of the stack, each from a line of its own. */
public class Main {
    static class Base {
        Base(int a) {}
    }

    static class Chained extends Base {
        Chained() {
            this(1);
        }

        Chained(int a) {
            this(a, 2);
        }

        Chained(int a, int b) {
            super(new Nested().hashCode() + a + b);
        }
    }

    static class Nested {}

    static class Tree {
        final Tree left;

        Tree(int depth) {
            left = depth > 0 ? new Tree(depth - 1) : null; // line 29
        }
    }

    static Object sink;

    static void at(int depth) {
        if (depth > 1) {
            at(depth - 1);
            return;
        }
        sink = new double[12345]; // line 40
        sink = new Base[3]; // line 41
        sink = new Chained(); // line 42
        sink = new Base[2][2]; // line 43
        sink = new Tree(3); // line 44
    }

    public static void main(String[] args) throws java.io.IOException {
        // A class that the VM has loaded but not linked when the agent begins; it makes a byte[512].
        new java.util.jar.Manifest(new java.io.ByteArrayInputStream("Manifest-Version: 1.0\n".getBytes()));
        for (int depth = 1; depth <= 24; depth++) at(depth);
    }
}
