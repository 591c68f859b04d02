package graph;

/** A recursion of so many frames, in which the JIT keeps objects out of the heap, stays until the JVM ends. */
final class DeepStack {
    private static volatile boolean isDeep;
    private static int total;

    private DeepStack() {}

    public static void main(String[] args) throws InterruptedException {
        int depth = Integer.parseInt(args[0]);
        Runnable descends = () -> {
            for (int i = 0; i < 20_000; i++) total += descend(40, false);
            total += descend(depth, true);
        };
        Thread thread = new Thread(null, descends, "deep", 1L << 30);
        thread.setDaemon(true);
        thread.start();
        while (!isDeep) Thread.sleep(1);
        System.out.println("deep");
    }

    private static int descend(int depth, boolean stays) {
        int[] kept = {depth, 7};
        if (depth == 0) {
            if (stays) stay();
            return 1;
        }
        return descend(depth - 1, stays) + kept[1];
    }

    private static void stay() {
        isDeep = true;
        try {
            Thread.sleep(600_000);
        } catch (InterruptedException e) {
            // The end.
        }
    }
}
