package fates;

/** Loaded again and again, each time by a loader of its own, and unloaded. */
public final class Plugin implements Runnable {
    static Object sink;

    private int runs;

    static final class Part {
        int value;
    }

    static final class Late {
        long value;
    }

    @Override
    public void run() {
        sink = new Part();
        sink = new Part[3];
        if (++runs == 3) {
            // It may be that nobody has looked at this site when the class goes.
            sink = new Late();
            Main.passed("fates.Plugin$Late", 1);
        }
        sink = null;
        Main.passed("fates.Plugin$Part", 1);
        Main.passed("fates.Plugin$Part[]", 1);
    }
}
