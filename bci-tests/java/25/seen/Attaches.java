package seen;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import pthreads.Pthreads;

/** Threads of native code attach and leave, eight at a time, while others block on a monitor all the time. */
final class Attaches {
    private static final Object MONITOR = new Object();
    private static volatile boolean done;
    private static long passed;

    private Attaches() {}

    public static void main(String[] args) throws Throwable {
        long end = System.nanoTime() + Integer.parseInt(args[0]) * 1_000_000_000L;
        System.out.println("ready");
        Thread[] contenders = new Thread[3];
        for (int i = 0; i < contenders.length; i++) {
            contenders[i] = new Thread(Attaches::contend, "contender " + i);
            contenders[i].start();
        }
        int failed = 0;
        try (Pthreads threads = new Pthreads(MethodHandles.lookup())) {
            while (System.nanoTime() < end) failed += threads.run(8);
        }
        done = true;
        for (Thread contender : contenders) contender.join();
        System.out.println("failed " + failed);
    }

    private static void contend() {
        while (!done) {
            synchronized (MONITOR) {
                passed++;
                Thread.yield();
            }
        }
    }

    private static MemorySegment body(MemorySegment unused) {
        return MemorySegment.NULL;
    }
}
