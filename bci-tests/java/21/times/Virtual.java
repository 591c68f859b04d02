package times;

import java.util.concurrent.TimeUnit;

/** What {@link Main} does, with virtual threads; lines as there. */
public final class Virtual {
    private Virtual() {}

    public static void main(String[] args) throws Exception {
        // The classes first, lest two threads meet at the initialisation of one.
        Main.measure(() -> null);
        // Sleeps on after the end.
        start("t-lasting", () -> Thread.sleep(TimeUnit.HOURS.toMillis(1)));
        Thread sleeps = start("t-sleep", () -> TimeUnit.NANOSECONDS.sleep(Main.LENGTH));
        Thread interrupted = start("t-interrupted", () -> {
            try {
                Thread.sleep(TimeUnit.HOURS.toMillis(1));
                throw new IllegalStateException("nobody woke it");
            } catch (InterruptedException e) {
                Thread.sleep(1);
            }
        });
        while (interrupted.getState() != Thread.State.TIMED_WAITING) {
            Thread.yield();
        }
        interrupted.interrupt();
        interrupted.join();
        sleeps.join();
        // It does nothing that is recorded, and so must be seen all the same.
        start("t-short", () -> {}).join();
        Main.print();
    }

    private interface Body {
        void run() throws InterruptedException;
    }

    private static Thread start(String name, Body body) {
        return Thread.ofVirtual().name(name).start(() -> Main.measure(() -> {
            body.run();
            return null;
        }));
    }
}
