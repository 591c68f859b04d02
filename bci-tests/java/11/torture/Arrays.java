package torture;

/** Arrays of every kind and size: none, many, larger than a region, of many dimensions, and refused. */
public final class Arrays {
    private static volatile Object sink;

    private Arrays() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 60);
        long[] sums = new long[2];
        Say.together(2, number -> {
            long sum = 0;
            for (int round = 0; round < rounds; round++) {
                for (int power = 0; power < 20; power++) {
                    byte[] bytes = new byte[1 << power];
                    sink = bytes;
                    sink = java.util.Arrays.copyOf(bytes, bytes.length / 2);
                    sink = java.util.Arrays.copyOfRange(new Object[9], 0, 9, Known[].class);
                    sum += bytes.clone().length;
                    Known.sink = new Known(power);
                }
                sink = new int[3][round % 5][2];
                sink = new long[0][];
                sink = new Object[1 << 18];
                sink = new byte[2 << 20];
                try {
                    sink = new char[5 - round - 6];
                } catch (NegativeArraySizeException e) {
                    sum++;
                }
                sum += java.lang.reflect.Array.getLength(java.lang.reflect.Array.newInstance(int.class, 2, round));
            }
            sums[number] = sum;
        });
        Say.end(sums[0] * 31 + sums[1], rounds * 40L);
    }
}
