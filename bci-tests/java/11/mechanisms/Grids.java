package mechanisms;

/** Arrays of several dimensions: the inner ones count too. */
final class Grids {
    static class Cell {}

    private Grids() {}

    @Makes({"mechanisms.Grids$Cell[][]", "2 mechanisms.Grids$Cell[]"})
    static void twoByThree(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new Cell[2][3]; // site mechanisms.Grids$Cell[][], 2 mechanisms.Grids$Cell[]
        }
    }

    @Makes({"int[][]", "3 int[]"})
    static void ofInts(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new int[3][i & 3]; // site int[][], 3 int[]
        }
    }

    @Makes({"long[][][]", "2 long[][]", "6 long[]"})
    static void threeDimensions(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new long[2][3][4]; // site long[][][], 2 long[][], 6 long[]
        }
    }

    @Makes("byte[][]")
    static void noRows(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new byte[0][3]; // site byte[][]
        }
    }

    @Makes({"char[][]", "2 char[]"})
    static void emptyRows(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new char[2][0]; // site char[][], 2 char[]
        }
    }

    @Makes({"double[][][]", "double[][]", "double[]"})
    static void ones(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new double[1][1][1]; // site double[][][], double[][], double[]
        }
    }

    @Makes({"float[][][]", "2 float[][]"})
    static void openEnd(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new float[2][3][]; // site float[][][], 2 float[][]
        }
    }

    @Makes({"boolean[][][][]", "boolean[][][]", "boolean[][]", "boolean[]"})
    static void fourDimensions(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new boolean[1][1][1][3]; // site boolean[][][][], boolean[][][], boolean[][], boolean[]
        }
    }

    @Makes({"short[][]", "4 short[]"})
    static void notEscaping(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            short[][] grid = new short[4][2]; // site short[][], 4 short[]
            sum += grid[3].length + grid.length;
        }
        if (sum == 1) {
            throw new AssertionError();
        }
    }
}
