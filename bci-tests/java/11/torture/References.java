package torture;

import java.lang.ref.Cleaner;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.WeakHashMap;

/** Weak, soft and phantom references, cleaners, and finalizers that bring their objects back. */
public final class References {
    private static final List<Object> REVIVED = new ArrayList<>();
    private static final Cleaner CLEANER = Cleaner.create();
    private static volatile int cleaned;

    private References() {}

    /** Lives once more. */
    private static final class Revived {
        private final Known known = new Known(7);

        @Override
        protected void finalize() {
            synchronized (REVIVED) {
                REVIVED.add(known);
                if (REVIVED.size() > 1_000) {
                    REVIVED.clear();
                }
            }
        }
    }

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 10);
        long checksum = 0;
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        List<Object> references = new ArrayList<>();
        WeakHashMap<Object, Object> map = new WeakHashMap<>();
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < 500; i++) {
                Object object = new Known(i);
                references.add(new WeakReference<>(object, queue));
                references.add(new SoftReference<>(object, queue));
                references.add(new PhantomReference<>(new Revived(), queue));
                CLEANER.register(new Object(), () -> cleaned++);
                map.put(object, new WeakReference<>(object));
                checksum += i;
            }
            System.gc();
            if (round % 3 == 2) {
                System.runFinalization();
                references.clear();
            }
            while (queue.poll() != null) {
                // What is cleared when is the collector's business.
                cleaned++;
            }
        }
        Say.end(checksum, rounds * 1_000L);
    }
}
