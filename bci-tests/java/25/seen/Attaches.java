package seen;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

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
        Linker linker = Linker.nativeLinker();
        MethodHandle create = linker.downcallHandle(linker.defaultLookup().find("pthread_create").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS, ValueLayout.ADDRESS));
        MethodHandle join = linker.downcallHandle(linker.defaultLookup().find("pthread_join").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
        MethodHandle body = MethodHandles.lookup().findStatic(Attaches.class, "body",
                MethodType.methodType(MemorySegment.class, MemorySegment.class));
        int failed = 0;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment entry = linker.upcallStub(body,
                    FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS), arena);
            MemorySegment threads = arena.allocate(ValueLayout.JAVA_LONG, 8);
            while (System.nanoTime() < end) {
                for (int i = 0; i < 8; i++) {
                    MemorySegment thread = threads.asSlice(i * 8L, 8);
                    failed += (int) create.invokeExact(thread, MemorySegment.NULL, entry, MemorySegment.NULL);
                }
                for (int i = 0; i < 8; i++) {
                    long thread = threads.getAtIndex(ValueLayout.JAVA_LONG, i);
                    failed += (int) join.invokeExact(thread, MemorySegment.NULL);
                }
            }
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
