package mechanisms;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Objects and arrays made by method handles. */
final class Handles {
    static class Constructed {
        final int value;

        Constructed(int value) {
            this.value = value;
        }
    }

    static class Later {}

    static class A {}

    static class B {}

    static class C {}

    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
    private static final MethodHandle CONSTRUCTOR = constructor(Constructed.class, int.class);
    private static final MethodHandle COLLECTOR = collector(A[].class, 3);
    private static final MethodHandle OBJECTS = collector(Object[].class, 4);
    private static final MethodHandle INTS = collector(int[].class, 2);
    private static final MethodHandle BOXING = boxing();
    private static final MethodHandle MAKER = MethodHandles.arrayConstructor(C[].class);

    private Handles() {}

    private static MethodHandle constructor(Class<?> type, Class<?>... parameters) {
        try {
            return LOOKUP.findConstructor(type, MethodType.methodType(void.class, parameters));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static MethodHandle collector(Class<?> array, int length) {
        return MethodHandles.identity(array).asCollector(array, length).asType(
                MethodType.genericMethodType(length).changeReturnType(Object.class));
    }

    private static MethodHandle boxing() {
        return MethodHandles.identity(double.class).asType(MethodType.methodType(Object.class, double.class));
    }

    @Makes("mechanisms.Handles$Constructed")
    static void constructors(int n) throws Throwable {
        for (int i = 0; i < n; i++) {
            Sink.sink = (Constructed) CONSTRUCTOR.invokeExact(i);
        }
    }

    @Makes("mechanisms.Handles$Later")
    static void constructorsNotConstant(int n) throws Throwable {
        MethodHandle handle = constructor(Later.class);
        for (int i = 0; i < n; i++) {
            Sink.sink = (Object) (Later) handle.invokeExact();
        }
    }

    @Makes("mechanisms.Handles$A[]")
    static void collectors(int n) throws Throwable {
        for (int i = 0; i < n; i++) {
            Sink.sink = (Object) COLLECTOR.invokeExact((Object) null, (Object) null, (Object) null);
        }
    }

    @Makes("java.lang.Object[]")
    static void collectorsOfObjects(int n) throws Throwable {
        for (int i = 0; i < n; i++) {
            Sink.sink = (Object) OBJECTS.invokeExact((Object) "a", (Object) "b", (Object) "c", (Object) null);
        }
    }

    @Makes("int[]")
    static void collectorsOfInts(int n) throws Throwable {
        for (int i = 0; i < n; i++) {
            Sink.sink = (Object) INTS.invokeExact((Object) 1, (Object) 2);
        }
    }

    @Makes("mechanisms.Handles$B[]")
    static void variableArguments(int n) throws Throwable {
        MethodHandle handle = MethodHandles.identity(B[].class).asVarargsCollector(B[].class);
        for (int i = 0; i < n; i++) {
            Sink.sink = (Object) handle.invoke((B) null, (B) null);
        }
    }

    @Makes("java.lang.Double")
    static void boxes(int n) throws Throwable {
        for (int i = 0; i < n; i++) {
            Sink.sink = (Object) BOXING.invokeExact(0.5 + i);
        }
    }

    @Makes("mechanisms.Handles$C[]")
    static void arrayConstructors(int n) throws Throwable {
        for (int i = 0; i < n; i++) {
            Sink.sink = (C[]) MAKER.invokeExact(3);
        }
    }
}
