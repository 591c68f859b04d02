package loaders;

/** The plugin of a loader that cannot be asked. */
public final class Left {
    private int one = 1;

    private Left() {}

    public static int run(int rounds) {
        int sum = 0;
        for (int round = 0; round < rounds; round++) {
            sum += new Left().one;
        }
        return sum;
    }
}
