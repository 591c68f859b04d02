package mechanisms;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.IntUnaryOperator;
import sun.misc.Unsafe;

/** Objects made by reflection. */
final class Reflected {
    static class Constructed {
        Constructed() {}
    }

    static class WithArguments {
        WithArguments(int value, Object other) {}
    }

    static class Classic {}

    static class Unconstructed {
        final long value = 1;
    }

    static class Returned {}

    private static final Unsafe UNSAFE = unsafe();
    private static final Constructor<Constructed> CONSTRUCTOR = constructor(Constructed.class);
    private static final Constructor<WithArguments> ARGUMENTS =
            constructor(WithArguments.class, int.class, Object.class);
    private static final Method METHOD = method("target", int.class);
    private static final IntUnaryOperator PROXY = (IntUnaryOperator) Proxy.newProxyInstance(
            Reflected.class.getClassLoader(), new Class<?>[] {IntUnaryOperator.class}, handler());

    private Reflected() {}

    private static Unsafe unsafe() {
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static <T> Constructor<T> constructor(Class<T> type, Class<?>... parameters) {
        try {
            return type.getDeclaredConstructor(parameters);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static Method method(String name, Class<?>... parameters) {
        try {
            return Reflected.class.getDeclaredMethod(name, parameters);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static InvocationHandler handler() {
        Object seven = 7;
        return (self, method, arguments) -> seven;
    }

    static Object target(int ignored) {
        return new Returned();
    }

    @Makes("mechanisms.Reflected$Constructed")
    static void constructors(int n) throws ReflectiveOperationException {
        for (int i = 0; i < n; i++) {
            Sink.sink = CONSTRUCTOR.newInstance();
        }
    }

    @Makes({"mechanisms.Reflected$WithArguments", "java.lang.Object[]"})
    static void constructorsWithArguments(int n) throws ReflectiveOperationException {
        for (int i = 0; i < n; i++) {
            Sink.sink = ARGUMENTS.newInstance(7, null);
        }
    }

    @Makes("mechanisms.Reflected$Classic")
    @SuppressWarnings("deprecation")
    static void classNewInstance(int n) throws ReflectiveOperationException {
        for (int i = 0; i < n; i++) {
            Sink.sink = Classic.class.newInstance();
        }
    }

    @Makes({"mechanisms.Reflected$Returned", "java.lang.Object[]"})
    static void methods(int n) throws ReflectiveOperationException {
        for (int i = 0; i < n; i++) {
            Sink.sink = METHOD.invoke(null, 7);
        }
    }

    @Makes("mechanisms.Reflected$Unconstructed")
    static void unsafeInstances(int n) throws InstantiationException {
        for (int i = 0; i < n; i++) {
            Sink.sink = UNSAFE.allocateInstance(Unconstructed.class);
        }
    }

    @Makes({"java.lang.Object[]", "java.lang.Integer"})
    static void proxies(int n) {
        for (int i = 0; i < n; i++) {
            PROXY.applyAsInt(1000 + i);
        }
    }
}
