package shapes;

import java.util.List;

/** Records and sealed classes. */
final class RecordShapes {
    record Empty() {}

    record Pair<A, B>(A left, B right) {
        Pair {
            if (left == null) {
                throw ConstructorShapes.STOP;
            }
        }

        Pair(A left) {
            this(left, null);
        }
    }

    sealed interface Figure permits Circle, Square {}

    record Circle(double radius) implements Figure {}

    static final class Square implements Figure {
        double side;
    }

    static List<Shape> all() {
        return List.of(new Shape("records", Shape.EXACT) {
            private Class<?> local;

            @Override
            void make(int n) {
                record Local(int i) {}
                local = Local.class;
                for (int i = 0; i < n; i++) {
                    Window.sink = new Empty();
                    Window.sink = new Pair<>("left");
                    Window.sink = new Pair<>("left", Window.sink);
                    Window.sink = new Circle(i);
                    Window.sink = new Square();
                    Window.sink = new Local(i);
                    try {
                        Window.sink = new Pair<>(null);
                    } catch (RuntimeException e) {
                        Window.sink = e;
                    }
                }
            }

            @Override
            void expect(int n, Expect expected) {
                expected.of(Empty.class, n).of(Pair.class, 3L * n).of(Circle.class, n).of(Square.class, n)
                        .of(local, n);
            }
        });
    }
}
