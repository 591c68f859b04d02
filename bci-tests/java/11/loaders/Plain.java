package loaders;

/** As {@link Plugin}, without its own name in a descriptor, by which no hidden class is found. */
public final class Plain {
    private int one = 1;

    private Plain() {}

    public static int run(int rounds) {
        int sum = 0;
        for (int round = 0; round < rounds; round++) {
            sum += new Plain().one;
        }
        return sum;
    }
}
