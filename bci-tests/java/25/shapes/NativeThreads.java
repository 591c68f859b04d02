package shapes;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Performs the shapes on a thread that pthread_create made and that comes into the JVM through JNI's door. */
final class NativeThreads {
    private static int rounds;

    private NativeThreads() {}

    static void perform(int rounds) throws Throwable {
        NativeThreads.rounds = rounds;
        Linker linker = Linker.nativeLinker();
        SymbolLookup libc = linker.defaultLookup();
        MethodHandle create = linker.downcallHandle(libc.find("pthread_create").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS, ValueLayout.ADDRESS));
        MethodHandle join = linker.downcallHandle(libc.find("pthread_join").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
        MethodHandle body = MethodHandles.lookup().findStatic(NativeThreads.class, "body",
                MethodType.methodType(MemorySegment.class, MemorySegment.class));
        try (Arena arena = Arena.ofShared()) {
            MemorySegment entry = linker.upcallStub(body,
                    FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS), arena);
            MemorySegment thread = arena.allocate(ValueLayout.JAVA_LONG);
            int created = (int) create.invokeExact(thread, MemorySegment.NULL, entry, MemorySegment.NULL);
            int joined = (int) join.invokeExact(thread.get(ValueLayout.JAVA_LONG, 0), MemorySegment.NULL);
            if (created != 0 || joined != 0) {
                throw new AssertionError("pthread_create " + created + ", pthread_join " + joined);
            }
        }
    }

    private static MemorySegment body(MemorySegment unused) {
        // It keeps the name that it came with: a trace has the name at the thread's start.
        Main.performOrDie(rounds);
        return MemorySegment.NULL;
    }
}
