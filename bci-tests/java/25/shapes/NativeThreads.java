package shapes;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import pthreads.Pthreads;

/** Performs the shapes on a thread that pthread_create made and that comes into the JVM through JNI's door. */
final class NativeThreads {
    private static int rounds;

    private NativeThreads() {}

    static void perform(int rounds) throws Throwable {
        NativeThreads.rounds = rounds;
        try (Pthreads threads = new Pthreads(MethodHandles.lookup())) {
            int failed = threads.run(1);
            if (failed != 0) {
                throw new AssertionError("pthread_create or pthread_join returned " + failed);
            }
        }
    }

    private static MemorySegment body(MemorySegment unused) {
        // It keeps the name that it came with: a trace has the name at the thread's start.
        Main.performOrDie(rounds);
        return MemorySegment.NULL;
    }
}
