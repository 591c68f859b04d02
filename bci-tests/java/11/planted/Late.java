package planted;

/** A thread that all others wait for at each safepoint: in its loop there is no check. */
final class Late {
    private static volatile int sink;
    private static volatile int loops;

    private Late() {
    }

    static void begin() throws InterruptedException {
        Main.start("risk", () -> {
            while (true) {
                sink = simulate(200_000_000);
                loops++;
            }
        });
        // By then it is compiled.
        while (loops < 5) {
            Thread.sleep(1);
        }
        Main.start("monitoring", () -> {
            while (!Thread.getAllStackTraces().isEmpty()) {
                Main.pause(20);
            }
        });
    }

    private static int simulate(int steps) {
        int sum = sink;
        for (int step = 0; step < steps; step++) { sum = sum * 31 + step; }
        return sum;
    }
}
