package mechanisms;

import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** Objects made by {@code new}, in all its disguises. */
final class Instances {
    static class Plain {}

    static class Escaping {
        final int value;

        Escaping(int value) {
            this.value = value;
        }
    }

    static class NotEscaping {
        final int value;

        NotEscaping(int value) {
            this.value = value;
        }
    }

    static class Referred {}

    static class Inner {
        final Plain part = new Plain();
    }

    static class Finalized {
        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() {}
    }

    static class Throwing {
        private static final RuntimeException STOP = new RuntimeException("stop");

        Throwing() {
            throw STOP;
        }
    }

    static class Own extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private Instances() {}

    @Makes("mechanisms.Instances$Escaping")
    static void plain(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new Escaping(i); // site mechanisms.Instances$Escaping
        }
    }

    @Makes("mechanisms.Instances$NotEscaping")
    static void notEscaping(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += new NotEscaping(i).value; // site mechanisms.Instances$NotEscaping
        }
        if (sum == 1) {
            throw new AssertionError();
        }
    }

    @Makes({"mechanisms.Instances$Inner", "mechanisms.Instances$Plain"})
    static void nested(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new Inner(); // site mechanisms.Instances$Inner
        }
    }

    @Makes({"mechanisms.Instances$Finalized", "java.lang.ref.Finalizer"})
    static void finalized(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new Finalized(); // site mechanisms.Instances$Finalized
        }
    }

    @Makes("mechanisms.Instances$Throwing")
    static void throwing(int n) {
        for (int i = 0; i < n; i++) {
            try {
                Sink.sink = new Throwing(); // site mechanisms.Instances$Throwing
            } catch (RuntimeException expected) {
                Sink.sink = expected;
            }
        }
    }

    @Makes("mechanisms.Instances$Own")
    static void exceptions(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new Own(); // site mechanisms.Instances$Own
        }
    }

    @Makes("mechanisms.Instances$Referred")
    static void methodReferences(int n) {
        Supplier<Object> constructor = Referred::new;
        for (int i = 0; i < n; i++) {
            Sink.sink = constructor.get();
        }
    }

    /** A lambda's class has no name that is the same everywhere. */
    @Makes("mechanisms.Instances$$Lambda")
    static void lambdas(int n) {
        for (int i = 0; i < n; i++) {
            int captured = i;
            IntSupplier lambda = () -> captured;
            Sink.sink = lambda;
        }
    }

    @Makes("int[]")
    static void arrayConstructorReferences(int n) {
        Function<Integer, int[]> constructor = int[]::new;
        for (int i = 0; i < n; i++) {
            Sink.sink = constructor.apply(5);
        }
    }
}
