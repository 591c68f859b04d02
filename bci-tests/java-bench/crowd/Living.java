/** Makes a number of small objects and keeps every one. Argument: how many. */
public final class Living {
    /** So that they all live until the end. */
    private static Object[] kept;

    private final int number;

    private Living(int number) {
        this.number = number;
    }

    public static void main(String[] args) {
        int count = Integer.parseInt(args[0]);
        kept = new Object[count];
        for (int i = 0; i < count; i++) kept[i] = new Living(i);
        long sum = 0;
        for (Object object : kept) sum += ((Living) object).number;
        System.out.println("alive=" + kept.length);
        System.out.println("sum=" + sum);
    }
}
