package torture;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.concurrent.atomic.AtomicLong;
import pthreads.Pthreads;

/** Threads that the system made, each of which comes into the JVM by JNI's door and leaves it again, many at a time. */
public final class Natives {
    private static final Object LOCK = new Object();
    private static final AtomicLong CHECKSUM = new AtomicLong();

    private Natives() {}

    /** Runs it. */
    public static void main(String[] args) throws Throwable {
        int rounds = Say.scaled(args, 100);
        int threads = 8;
        try (Pthreads made = new Pthreads(MethodHandles.lookup())) {
            for (int round = 0; round < rounds; round++) {
                CHECKSUM.addAndGet(made.run(threads));
            }
        }
        Say.end(CHECKSUM.get(), rounds * (long) threads * 10);
    }

    private static MemorySegment body(MemorySegment unused) {
        for (int i = 0; i < 10; i++) {
            Known.sink = new Known(i);
            synchronized (LOCK) {
                CHECKSUM.addAndGet(i);
            }
        }
        return MemorySegment.NULL;
    }
}
