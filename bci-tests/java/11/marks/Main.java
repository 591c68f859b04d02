package marks;

/** Allocates arrays of another kind before, between and behind two methods, which are entered several times, and overloaded. */
public final class Main {
    static Object sink;

    private Main() {}

    static void before() {
        for (int i = 0; i < 3_000; i++) {
            sink = new byte[1_000];
        }
    }

    static void work(int arrays) {
        for (int i = 0; i < arrays; i++) {
            sink = new int[250];
        }
    }

    static void work() {
        work(1_000);
        work(1_000);
    }

    static void done() {
        for (int i = 0; i < 500; i++) {
            sink = new long[100];
        }
    }

    static void never() {}

    public static void main(String[] args) {
        before();
        work();
        done();
        done();
        if (args.length > 0) {
            never();
        }
    }
}
