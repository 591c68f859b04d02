package explain;

/** Clean: a loop that computes, on arrays that are made once. */
public final class Compute {
    private Compute() {}

    public static void main(String[] args) {
        boolean[] composite = new boolean[4_000_000];
        long sum = 0;
        for (int round = 0; round < 12; round++) {
            java.util.Arrays.fill(composite, false);
            for (int number = 2; number < composite.length; number++) {
                if (composite[number]) {
                    continue;
                }
                sum += number;
                for (long multiple = (long) number * number; multiple < composite.length; multiple += number) {
                    composite[(int) multiple] = true;
                }
            }
        }
        System.out.println("sum of primes " + sum);
    }
}
