package torture;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.atomic.AtomicLong;

/** Threads that the system made, each of which comes into the JVM by JNI's door and leaves it again, many at a time. */
public final class Natives {
    private static final Object LOCK = new Object();
    private static final AtomicLong CHECKSUM = new AtomicLong();

    private Natives() {}

    /** Runs it. */
    public static void main(String[] args) throws Throwable {
        int rounds = Say.scaled(args, 100);
        int threads = 8;
        Linker linker = Linker.nativeLinker();
        MethodHandle create = linker.downcallHandle(linker.defaultLookup().find("pthread_create").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS, ValueLayout.ADDRESS));
        MethodHandle join = linker.downcallHandle(linker.defaultLookup().find("pthread_join").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
        MethodHandle body = MethodHandles.lookup().findStatic(Natives.class, "body",
                MethodType.methodType(MemorySegment.class, MemorySegment.class));
        try (Arena arena = Arena.ofShared()) {
            MemorySegment entry = linker.upcallStub(body,
                    FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS), arena);
            MemorySegment ids = arena.allocate(ValueLayout.JAVA_LONG, threads);
            for (int round = 0; round < rounds; round++) {
                for (int i = 0; i < threads; i++) {
                    MemorySegment id = ids.asSlice(i * 8L, 8);
                    int made = (int) create.invokeExact(id, MemorySegment.NULL, entry, MemorySegment.NULL);
                    CHECKSUM.addAndGet(made);
                }
                for (int i = 0; i < threads; i++) {
                    long id = ids.getAtIndex(ValueLayout.JAVA_LONG, i);
                    CHECKSUM.addAndGet((int) join.invokeExact(id, MemorySegment.NULL));
                }
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
