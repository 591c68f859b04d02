package shapes;

import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Objects made inside the class library on our behalf: boxes, nodes, strings. */
final class LibraryShapes {
    static class Key {}

    static List<Shape> all() {
        return List.of(
                new Shape("boxing", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        // Beyond the caches of the box classes: each value makes an object.
                        for (int i = 0; i < n; i++) {
                            Window.sink = 1000 + i;
                            Window.sink = 1000L + i;
                            Window.sink = (short) (1000 + i % 1000);
                            Window.sink = (char) (1000 + i % 1000);
                            Window.sink = 0.5f + i;
                            Window.sink = 0.5 + i;
                            Window.sink = i % 100;
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.of(Integer.class, n).of(Long.class, n).of(Short.class, n).of(Character.class, n)
                                .of(Float.class, n).of(Double.class, n);
                    }
                },
                new Shape("linked-list", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        LinkedList<Key> keys = new LinkedList<>();
                        for (int i = 0; i < n; i++) {
                            keys.add(new Key());
                        }
                        Window.sink = keys;
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.of(LinkedList.class, 1).of("java.util.LinkedList$Node", n).of(Key.class, n);
                    }
                },
                new Shape("hash-map", Shape.OWN) {
                    @Override
                    void make(int n) {
                        Map<Integer, Key> keys = new HashMap<>();
                        for (int i = 0; i < n; i++) {
                            keys.put(1000 + i, new Key());
                        }
                        Window.sink = keys;
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.of(HashMap.class, 1).of("java.util.HashMap$Node", n).of(Key.class, n)
                                .of(Integer.class, n);
                    }
                },
                new Shape("library", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < n; i++) {
                            Window.sink = Optional.of("text");
                            Window.sink = new String("text");
                            Window.sink = new StringBuilder(10);
                            Window.sink = Map.entry("key", "value");
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.of(Optional.class, n).of(String.class, n).of(StringBuilder.class, n)
                                .arrays(byte.class, 10, n).of("java.util.KeyValueHolder", n);
                    }
                });
    }
}
