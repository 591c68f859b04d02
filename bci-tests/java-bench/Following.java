/**
 * Makes objects that live until the end, then six times as many that die at once.
 *
 * Argument: the number of the first.
 */
public final class Following {
    static Object[] living;
    static volatile Object last;

    private Following() {}

    public static void main(String[] args) {
        int count = Integer.parseInt(args[0]);
        long begin = System.nanoTime();
        living = new Object[count];
        for (int i = 0; i < count; i++) {
            living[i] = new int[4];
        }
        for (long i = 0; i < 6L * count; i++) {
            last = new byte[40];
        }
        System.out.println("nanos=" + (System.nanoTime() - begin));
        System.out.println("living=" + living.length);
    }
}
