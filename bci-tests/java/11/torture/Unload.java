package torture;

import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;

/** Class loaders that come and go on several threads. */
public final class Unload {
    private Unload() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 120);
        AtomicLong checksum = new AtomicLong();
        Say.together(3, number -> {
            ArrayDeque<ClassLoader> kept = new ArrayDeque<>();
            for (int round = 0; round < rounds; round++) {
                Fresh loader = new Fresh("torture.Plugin");
                Class<?> plugin = loader.loadClass("torture.Plugin");
                checksum.addAndGet((Long) plugin.getMethod("work", int.class).invoke(null, 100));
                kept.add(loader);
                if (kept.size() > 2) {
                    kept.remove();
                }
                if (number == 0 && round % 15 == 14) {
                    System.gc();
                }
            }
        });
        Say.end(checksum.get(), rounds * 300L);
    }
}
