package shapes;

import java.util.List;

/** {@code multianewarray}: two to four dimensions, partial, with zero lengths, whose inner arrays count too. */
final class GridShapes {
    static class Tile {}

    static List<Shape> all() {
        return List.of(
                new Shape("grids-2", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < n / 8; i++) {
                            Window.sink = new boolean[2][3];
                            Window.sink = new char[1][1];
                            Window.sink = new float[3][0];
                            Window.sink = new double[0][3];
                            Window.sink = new byte[2][2];
                            Window.sink = new short[2][i % 4];
                            Window.sink = new int[4][2];
                            Window.sink = new long[1][5];
                            Window.sink = new Tile[3][3];
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        int rounds = n / 8;
                        expected.grids(boolean.class, 2, new int[] {2, 3}, rounds)
                                .grids(char.class, 2, new int[] {1, 1}, rounds)
                                .grids(float.class, 2, new int[] {3, 0}, rounds)
                                .grids(double.class, 2, new int[] {0, 3}, rounds)
                                .grids(byte.class, 2, new int[] {2, 2}, rounds)
                                .grids(int.class, 2, new int[] {4, 2}, rounds)
                                .grids(long.class, 2, new int[] {1, 5}, rounds)
                                .grids(Tile.class, 2, new int[] {3, 3}, rounds);
                        for (int i = 0; i < rounds; i++) {
                            expected.grids(short.class, 2, new int[] {2, i % 4}, 1);
                        }
                    }
                },
                new Shape("grids-3-4", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < n / 20; i++) {
                            Window.sink = new int[2][3][4];
                            Window.sink = new Tile[2][2][2];
                            Window.sink = new byte[2][1][2][3];
                            Window.sink = new String[1][2][3][1];
                            Window.sink = new short[2][0][3];
                            Window.sink = new double[2][2][0][7];
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        int rounds = n / 20;
                        expected.grids(int.class, 3, new int[] {2, 3, 4}, rounds)
                                .grids(Tile.class, 3, new int[] {2, 2, 2}, rounds)
                                .grids(byte.class, 4, new int[] {2, 1, 2, 3}, rounds)
                                .grids(String.class, 4, new int[] {1, 2, 3, 1}, rounds)
                                .grids(short.class, 3, new int[] {2, 0, 3}, rounds)
                                .grids(double.class, 4, new int[] {2, 2, 0, 7}, rounds);
                    }
                },
                new Shape("partial-grids", Shape.EXACT) {
                    @Override
                    void make(int n) {
                        for (int i = 0; i < n / 10; i++) {
                            Window.sink = new long[2][3][];
                            Window.sink = new Tile[2][2][][];
                            Window.sink = new char[1][2][3][];
                            Window.sink = new Tile[0][0][];
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        int rounds = n / 10;
                        expected.grids(long.class, 3, new int[] {2, 3}, rounds)
                                .grids(Tile.class, 4, new int[] {2, 2}, rounds)
                                .grids(char.class, 4, new int[] {1, 2, 3}, rounds)
                                .grids(Tile.class, 3, new int[] {0, 0}, rounds);
                    }
                });
    }
}
