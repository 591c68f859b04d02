package requests;

import java.util.ArrayList;
import java.util.List;

/**
 * Calls entry points in every shape, and prints how often each was called from outside of another one and how often it failed:
 * {@code called NAME calls failures}. With an argument it waits for a line of input before and after.
 */
public final class Main {
    private static final int ROUNDS = 50;

    /** Bytes of the array that {@code allocate} makes, but for its header. */
    private static final int LENGTH = 100_000;

    private static Object kept;

    private Main() {}

    interface Listener {
        void heard(int number);
    }

    /** The entry points. */
    static class Api implements Listener {
        private final List<String> log = new ArrayList<>();

        void nothing() {}

        /** Its loop leads to its first instruction. */
        static int loops(int n) {
            while (n > 10) n -= 10;
            return n;
        }

        long longs(int n) {
            return n;
        }

        float floats(int n) {
            return n;
        }

        double doubles(int n, long more) {
            if (n % 2 == 0) return more;
            return n;
        }

        static synchronized Object locked(Object o) {
            return o.toString();
        }

        String catches(Object o) {
            try {
                return fails(o);
            } catch (NullPointerException e) {
                return "caught";
            } finally {
                kept = o;
            }
        }

        private String fails(Object o) {
            return o.toString();
        }

        void throwsItself(int n) {
            synchronized (this) {
                if (n % 5 == 0) throw new IllegalStateException("planned");
            }
        }

        int recursive(int depth) {
            if (depth == 0) throw new IllegalArgumentException("planned");
            return depth == 1 ? 1 : 1 + recursive(depth - 1);
        }

        void outer(int n) {
            longs(n);
            floats(n);
            loops(n);
        }

        void allocate() {
            kept = new byte[LENGTH];
        }

        @Override
        public void heard(int number) {
            if (number < 0) log.add("negative");
        }
    }

    private static void call(String name, int failures, Runnable body) {
        int failed = 0;
        for (int i = 0; i < ROUNDS; i++) {
            try {
                body.run();
            } catch (RuntimeException e) {
                failed++;
            }
        }
        if (failed != failures) throw new AssertionError(name + " " + failed);
        System.out.println("called " + name + " " + ROUNDS + " " + failed);
    }

    private static int next;

    private static void calls() {
        Api api = new Api();
        call("nothing", 0, api::nothing);
        call("loops", 0, () -> Api.loops(next++));
        call("longs", 0, () -> api.longs(1));
        call("floats", 0, () -> api.floats(1));
        call("doubles", 0, () -> api.doubles(next++, 1));
        call("locked", ROUNDS / 2, () -> Api.locked(next++ % 2 == 0 ? "x" : null));
        call("catches", 0, () -> api.catches(next++ % 2 == 0 ? "x" : null));
        call("throwsItself", ROUNDS / 5, () -> api.throwsItself(next++));
        call("recursive", ROUNDS / 2, () -> {
            // Fails in its deepest call, or not.
            if (next++ % 2 == 0) api.recursive(20);
            else api.recursive(0);
        });
        call("outer", 0, () -> api.outer(1));
        call("allocate", 0, api::allocate);
        call("heard", 0, () -> api.heard(1));
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            calls();
            return;
        }
        // What runs before is compiled, and linked to methods as they were.
        for (int i = 0; i < 200; i++) calls();
        System.out.println("ready");
        System.in.read();
        System.out.println("recorded");
        calls();
        System.out.println("done");
        System.in.read();
    }
}
