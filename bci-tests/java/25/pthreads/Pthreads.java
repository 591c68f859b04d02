package pthreads;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Threads that pthread_create makes and that come into the JVM through JNI's door. */
public final class Pthreads implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final MethodHandle create;
    private final MethodHandle join;
    private final MemorySegment body;

    /** Each runs the static method {@code MemorySegment body(MemorySegment)} of the class that looks it up. */
    public Pthreads(MethodHandles.Lookup lookup) throws ReflectiveOperationException {
        Linker linker = Linker.nativeLinker();
        create = linker.downcallHandle(linker.defaultLookup().find("pthread_create").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS, ValueLayout.ADDRESS));
        join = linker.downcallHandle(linker.defaultLookup().find("pthread_join").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
        MethodHandle method = lookup.findStatic(lookup.lookupClass(), "body",
                MethodType.methodType(MemorySegment.class, MemorySegment.class));
        body = linker.upcallStub(method, FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS), arena);
    }

    /** Makes so many threads and waits for them; returns the sum of what the calls return, 0 if none failed. */
    public int run(int threads) throws Throwable {
        int failed = 0;
        try (Arena ids = Arena.ofConfined()) {
            MemorySegment made = ids.allocate(ValueLayout.JAVA_LONG, threads);
            for (int i = 0; i < threads; i++) {
                MemorySegment id = made.asSlice(i * 8L, 8);
                failed += (int) create.invokeExact(id, MemorySegment.NULL, body, MemorySegment.NULL);
            }
            for (int i = 0; i < threads; i++) {
                long id = made.getAtIndex(ValueLayout.JAVA_LONG, i);
                failed += (int) join.invokeExact(id, MemorySegment.NULL);
            }
        }
        return failed;
    }

    @Override
    public void close() {
        arena.close();
    }
}
