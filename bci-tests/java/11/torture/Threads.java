package torture;

import java.util.concurrent.atomic.AtomicLong;

/** Threads that live for a moment, some at the same time and many one after the other. */
public final class Threads {
    private static final Object LOCK = new Object();
    private static long checksum;

    private Threads() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int alone = Say.scaled(args, 3_000);
        int crowds = Say.scaled(args, 30);
        for (int i = 0; i < alone; i++) {
            Thread thread = new Thread(Threads::work, "alone-" + i % 7);
            thread.start();
            thread.join();
        }
        AtomicLong ended = new AtomicLong();
        for (int crowd = 0; crowd < crowds; crowd++) {
            Say.together(24, number -> {
                work();
                ended.incrementAndGet();
            });
        }
        Say.end(checksum, alone + ended.get());
    }

    private static void work() {
        Known made = new Known(1);
        Known.sink = made;
        synchronized (LOCK) {
            checksum = checksum * 31 + made.value;
        }
    }
}
