package shapes;

import java.util.List;

/** Exceptions that the program throws, and those that the JVM makes itself. */
final class ExceptionShapes {
    static class Own extends Exception {
        private static final long serialVersionUID = 1;

        Own(String message, Throwable cause) {
            super(message, cause);
        }
    }

    static class OwnStackless extends RuntimeException {
        private static final long serialVersionUID = 1;

        OwnStackless() {
            super(null, null, false, false);
        }
    }

    static void fall(int depth) throws Own {
        if (depth == 0) {
            throw new Own("bottom", null);
        }
        try {
            fall(depth - 1);
        } finally {
            Window.sink = null;
        }
    }

    /** The ways to make the JVM throw, one for each {@code kind}. */
    static Object fault(int kind, Object[] objects, int zero) {
        switch (kind) {
            case 0:
                return objects[0].toString();
            case 1:
                return objects[objects.length + zero];
            case 2:
                return kind / zero;
            case 3:
                return (Integer) objects[1];
            case 4:
                return new int[zero - 1];
            case 5:
                objects[zero] = objects;
                return null;
            case 6:
                return new long[2][zero - 3];
            default:
                throw new IllegalArgumentException("no fault " + kind);
        }
    }

    private static final Class<?>[] FAULTS = {
        NullPointerException.class, ArrayIndexOutOfBoundsException.class, ArithmeticException.class,
        ClassCastException.class, NegativeArraySizeException.class, ArrayStoreException.class,
        NegativeArraySizeException.class,
    };

    static List<Shape> all() {
        return List.of(
                new Shape("exceptions", Shape.OWN) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < n / 4; i++) {
                            try {
                                fall(5);
                            } catch (Own e) {
                                Window.sink = new Own("wrapped", e);
                            }
                            try {
                                throw new OwnStackless();
                            } catch (OwnStackless e) {
                                Window.sink = e;
                            }
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.of(Own.class, 2L * (n / 4)).of(OwnStackless.class, n / 4);
                    }
                },
                new Shape("faults", Shape.OWN) {
                    private final long[] thrown = new long[FAULTS.length];

                    @Override
                    void make(int n) {
                        java.util.Arrays.fill(thrown, 0);
                        String[] objects = {null, "text"};
                        for (int i = 0; i < n / 2; i++) {
                            int kind = i % FAULTS.length;
                            try {
                                Window.sink = fault(kind, objects, 0);
                            } catch (RuntimeException e) {
                                if (e.getClass() != FAULTS[kind]) {
                                    throw e;
                                }
                                // Code compiled by C2 throws one object made beforehand, without a stack trace.
                                thrown[kind] += e.getStackTrace().length == 0 ? 0 : 1;
                            }
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        for (int kind = 0; kind < FAULTS.length; kind++) {
                            expected.of(FAULTS[kind], thrown[kind]);
                        }
                    }
                });
    }
}
