package shapes;

import java.util.List;

/** Arrays of one dimension: the nine kinds, empty ones, large ones, initialisers, varargs. */
final class ArrayShapes {
    static class Cell {}

    static int count(int... values) {
        return values.length;
    }

    @SafeVarargs
    static <T> int countAll(T... values) {
        return values.length;
    }

    static List<Shape> all() {
        return List.of(
                new Shape("primitive-arrays", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < n; i++) {
                            int length = i % 5;
                            Window.sink = new boolean[length];
                            Window.sink = new char[length];
                            Window.sink = new float[length];
                            Window.sink = new double[length];
                            Window.sink = new byte[length];
                            Window.sink = new short[length];
                            Window.sink = new int[length];
                            Window.sink = new long[length];
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        for (int i = 0; i < n; i++) {
                            int length = i % 5;
                            expected.arrays(boolean.class, length, 1).arrays(char.class, length, 1)
                                    .arrays(float.class, length, 1).arrays(double.class, length, 1)
                                    .arrays(byte.class, length, 1).arrays(short.class, length, 1)
                                    .arrays(int.class, length, 1).arrays(long.class, length, 1);
                        }
                    }
                },
                new Shape("reference-arrays", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < n; i++) {
                            Window.sink = new Cell[i % 3];
                            Window.sink = new Object[2];
                            Window.sink = new String[0];
                            Window.sink = new int[4][];
                            Window.sink = new Cell[5][][];
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        for (int i = 0; i < n; i++) {
                            expected.arrays(Cell.class, i % 3, 1);
                        }
                        expected.arrays(Object.class, 2, n).arrays(String.class, 0, n).arrays(int[].class, 4, n)
                                .arrays(Cell[][].class, 5, n);
                    }
                },
                new Shape("array-initialisers", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < n; i++) {
                            Window.sink = new int[] {1, i, 3};
                            Window.sink = new Cell[] {new Cell(), null};
                            Window.sink = new long[][] {{1, 2}, {}, null, {i}};
                            Window.sink = new boolean[][][] {{{true}}};
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.arrays(int.class, 3, n).arrays(Cell.class, 2, n).of(Cell.class, n)
                                .arrays(long[].class, 4, n).arrays(long.class, 2, n).arrays(long.class, 0, n)
                                .arrays(long.class, 1, n).arrays(boolean[][].class, 1, n)
                                .arrays(boolean[].class, 1, n).arrays(boolean.class, 1, n);
                    }
                },
                new Shape("varargs", Shape.EXACT) {
                    private int counted;

                    @Override
                    void make(int n) {
                        counted = 0;
                        for (int i = 0; i < n; i++) {
                            counted += count();
                            counted += count(i, 2);
                            counted += countAll(new Cell(), new Cell(), new Cell());
                            counted += countAll("a", 'a' + 1000);
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        if (counted != 7 * n) {
                            throw new AssertionError(counted + " arguments");
                        }
                        Class<?> common = ((Object[]) common("a", 1)).getClass().getComponentType();
                        expected.arrays(int.class, 0, n).arrays(int.class, 2, n).arrays(Cell.class, 3, n)
                                .of(Cell.class, 3L * n).arrays(common, 2, n).of(Integer.class, n);
                    }

                    @SafeVarargs
                    private <T> Object common(T... values) {
                        return values;
                    }
                },
                new Shape("large-arrays", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < 6; i++) {
                            Window.sink = new byte[(2 << 20) + i];
                            Window.sink = new long[1 << 17];
                            Window.sink = new Cell[1 << 18];
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        for (int i = 0; i < 6; i++) {
                            expected.arrays(byte.class, (2 << 20) + i, 1);
                        }
                        expected.arrays(long.class, 1 << 17, 6).arrays(Cell.class, 1 << 18, 6);
                    }
                });
    }
}
