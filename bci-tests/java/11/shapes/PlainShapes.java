package shapes;

import java.util.List;

/** Objects made by {@code new} in the plainest ways: flat, derived, nested, generic. */
final class PlainShapes {
    static class Empty {}

    static class Fields {
        boolean z = true;
        byte b;
        char c;
        short s;
        int i;
        long j;
        float f;
        double d;
        Object next;

        Fields(int i, Object next) {
            this.i = i;
            this.next = next;
        }
    }

    static class ChainA {
        int a;
    }

    static class ChainB extends ChainA {
        long b;
    }

    static class ChainC extends ChainB {
        byte c;
    }

    static class ChainD extends ChainC {
        Object d = this;
    }

    static class Box<T extends Comparable<T>> {
        final T value;

        Box(T value) {
            this.value = value;
        }
    }

    static final class StringBox extends Box<String> {
        StringBox(String value) {
            super(value);
        }
    }

    abstract static class Abstract {
        abstract int value();
    }

    interface Face {
        default int value() {
            return 1;
        }
    }

    static final class Implementing implements Face, Cloneable, Comparable<Implementing> {
        @Override
        public int compareTo(Implementing other) {
            return 0;
        }
    }

    class Inner {
        class Innermost {
            int value = outer;
        }
    }

    final int outer = 3;

    static List<Shape> all() {
        return List.of(
                new Shape("plain", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < n; i++) {
                            Window.sink = new Empty();
                            Window.sink = new Fields(i, Window.sink);
                            Window.sink = new Object();
                            Window.sink = new Implementing();
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.of(Empty.class, n).of(Fields.class, n).of(Object.class, n).of(Implementing.class, n);
                    }
                },
                new Shape("chain", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < n; i++) {
                            Window.sink = new ChainA();
                            Window.sink = new ChainB();
                            Window.sink = new ChainC();
                            Window.sink = new ChainD();
                            Window.sink = new ChainD();
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.of(ChainA.class, n).of(ChainB.class, n).of(ChainC.class, n).of(ChainD.class, 2L * n);
                    }
                },
                new Shape("generic", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < n; i++) {
                            Window.sink = new Box<>("text");
                            Window.sink = new StringBox("text");
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.of(Box.class, n).of(StringBox.class, n);
                    }
                },
                new Nested());
    }

    /** Inner, local and anonymous classes, with and without captured variables. */
    static final class Nested extends Shape {
        private Class<?> anonymous;
        private Class<?> capturing;
        private Class<?> local;

        Nested() {
            super("nested", EXACT);
        }

        @Override
        void make(int n) {
            PlainShapes owner = new PlainShapes();
            class Local {
                int value = n;
            }
            local = Local.class;
            for (int i = 0; i < n; i++) {
                int captured = i;
                Inner inner = owner.new Inner();
                Window.sink = inner.new Innermost();
                Window.sink = new Local();
                Abstract plain = new Abstract() {
                    @Override
                    int value() {
                        return 2;
                    }
                };
                Face catching = new Face() {
                    @Override
                    public int value() {
                        return captured;
                    }
                };
                anonymous = plain.getClass();
                capturing = catching.getClass();
            }
        }

        @Override
        void expect(int n, Expect expected) {
            expected.of(PlainShapes.class, 1).of(Inner.class, n).of(Inner.Innermost.class, n).of(local, n)
                    .of(anonymous, n).of(capturing, n);
        }
    }
}
