package torture;

/** A class that is loaded again and again, and dropped. */
public final class Plugin {
    private static final Object[] KEPT = new Object[64];

    private final int value;

    private Plugin(int value) {
        this.value = value;
    }

    /** Makes some of its own and some {@link Known}. */
    public static long work(int times) {
        long sum = 0;
        for (int i = 0; i < times; i++) {
            KEPT[i % KEPT.length] = new Plugin(i);
            Known.sink = new Known(i);
            int[] array = {i, i + 1};
            Runnable lambda = () -> KEPT[array[0] % KEPT.length] = null;
            if (i % 3 == 0) {
                lambda.run();
            }
            Plugin kept = (Plugin) KEPT[i % KEPT.length];
            sum = sum * 31 + (kept == null ? 1 : kept.value);
        }
        return sum;
    }
}
