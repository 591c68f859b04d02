package shapes;

import java.lang.ref.WeakReference;
import java.util.List;

/** Objects whose constructors do more than return: chains, loops, throws, finalizers. */
final class ConstructorShapes {
    static class This {
        final int sum;

        This() {
            this(1);
        }

        This(int a) {
            this(a, 2);
        }

        This(int a, int b) {
            sum = a + b;
        }
    }

    static class SubThis extends This {
        SubThis(boolean deep) {
            super(deep ? 1 : 2);
        }
    }

    static class Argument {}

    static class TakesArgument extends This {
        TakesArgument(int i) {
            super(i % 2 == 0 ? new Argument().hashCode() : i);
        }
    }

    /** Thrown without being allocated. */
    static final RuntimeException STOP = new RuntimeException("stop", null, false, false) {};

    static class Throwing {
        Throwing(boolean stop) {
            if (stop) {
                throw STOP;
            }
        }
    }

    static class SubThrowing extends Throwing {
        SubThrowing(int i) {
            super(i % 3 == 0);
            if (i % 3 == 1) {
                throw STOP;
            }
        }
    }

    static class Busy {
        final long[] table = new long[3];
        final Argument argument;
        Argument second;

        {
            second = new Argument();
        }

        Busy(int i) {
            Argument made = null;
            try {
                for (int round = 0; round < 2; round++) {
                    switch ((i + round) % 4) {
                        case 0:
                            made = new Argument();
                            break;
                        case 3:
                            throw STOP;
                        default:
                            table[round] = i;
                    }
                }
            } catch (RuntimeException e) {
                made = new Argument();
            } finally {
                argument = made;
            }
        }
    }

    static class Tree {
        Tree left;
        Tree right;

        Tree(int depth) {
            if (depth > 0) {
                left = new Tree(depth - 1);
                right = new Tree(depth - 1);
            }
        }
    }

    static class Escaping {
        Escaping() {
            Window.sink = this;
        }
    }

    @SuppressWarnings({"deprecation", "removal"})
    static class Finalizable {
        private static int finalized;

        /** Not empty: HotSpot does not register objects whose finalizer does nothing. */
        @Override
        protected void finalize() {
            finalized++;
        }
    }

    static class Weak extends WeakReference<Object> {
        Weak(Object referent) {
            super(referent);
        }
    }

    static List<Shape> all() {
        return List.of(
                new Shape("this-chain", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < n; i++) {
                            Window.sink = new This();
                            Window.sink = new SubThis(i % 2 == 0);
                            Window.sink = new TakesArgument(i);
                            Window.sink = new Escaping();
                            Window.sink = new Weak(Window.sink);
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.of(This.class, n).of(SubThis.class, n).of(TakesArgument.class, n)
                                .of(Argument.class, (n + 1) / 2).of(Escaping.class, n).of(Weak.class, n);
                    }
                },
                new Shape("throwing-constructor", Shape.EXACT) {
                    private int thrown;

                    @Override
                    void make(int n) {
                        thrown = 0;
                        for (int i = 0; i < n; i++) {
                            try {
                                Window.sink = new Throwing(i % 2 == 0);
                            } catch (RuntimeException e) {
                                thrown++;
                            }
                            try {
                                Window.sink = new SubThrowing(i);
                            } catch (RuntimeException e) {
                                thrown++;
                            }
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        if (thrown != (n + 1) / 2 + (n + 2) / 3 + (n + 1) / 3) {
                            throw new AssertionError(thrown + " constructors threw");
                        }
                        expected.of(Throwing.class, n).of(SubThrowing.class, n);
                    }
                },
                new Shape("busy-constructor", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < n; i++) {
                            Window.sink = new Busy(i);
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        // i % 4: 0 makes one, 1 none, 2 throws in its second round, 3 in its first.
                        long inside = 0;
                        for (int i = 0; i < n; i++) {
                            inside += i % 4 == 1 ? 0 : 1;
                        }
                        expected.of(Busy.class, n).arrays(long.class, 3, n).of(Argument.class, n + inside);
                    }
                },
                new Shape("recursive-constructor", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < n / 31; i++) {
                            Window.sink = new Tree(4);
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.of(Tree.class, n / 31 * 31L);
                    }
                },
                new Shape("finalizable", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < n / 10; i++) {
                            Window.sink = new Finalizable();
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.of(Finalizable.class, n / 10).of("java.lang.ref.Finalizer", n / 10);
                    }
                });
    }
}
