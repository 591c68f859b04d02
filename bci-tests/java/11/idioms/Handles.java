package idioms;

import static idioms.Idiom.sink;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.IntUnaryOperator;

/** Method handles, variable handles and reflection. */
public final class Handles {
    private static final MethodHandle MAKE, ADD, GENERIC, ARRAY, SPREAD, COLLECT, GUARDED;
    private static final VarHandle VALUE, ELEMENT;
    private static final Constructor<Cell> CONSTRUCTOR;
    private static final Method METHOD;
    private static final IntUnaryOperator PROXY;

    static final class Cell {
        int value;

        public Cell(int value) {
            this.value = value;
        }

        public int plus(int k) {
            return value + k;
        }
    }

    static int add(int a, int b) {
        return a + b;
    }

    static int count(Object... all) {
        return all.length;
    }

    static boolean even(int i) {
        return (i & 1) == 0;
    }

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MAKE = lookup.findConstructor(Cell.class, MethodType.methodType(void.class, int.class));
            ADD = lookup.findStatic(Handles.class, "add", MethodType.methodType(int.class, int.class, int.class));
            GENERIC = ADD.asType(MethodType.genericMethodType(2));
            ARRAY = MethodHandles.arrayConstructor(int[].class);
            SPREAD = ADD.asType(MethodType.genericMethodType(2)).asSpreader(Object[].class, 2);
            COLLECT = lookup.findStatic(Handles.class, "count", MethodType.methodType(int.class, Object[].class))
                    .asCollector(Object[].class, 3);
            GUARDED = MethodHandles.guardWithTest(
                    lookup.findStatic(Handles.class, "even", MethodType.methodType(boolean.class, int.class)),
                    MAKE.asType(MethodType.methodType(Object.class, int.class)),
                    MethodHandles.dropArguments(MethodHandles.constant(Object.class, "odd"), 0, int.class));
            VALUE = lookup.findVarHandle(Cell.class, "value", int.class);
            ELEMENT = MethodHandles.arrayElementVarHandle(int[].class);
            CONSTRUCTOR = Cell.class.getConstructor(int.class);
            METHOD = Cell.class.getMethod("plus", int.class);
            InvocationHandler handler = (proxy, method, args) -> (Integer) args[0] + 1;
            PROXY = (IntUnaryOperator) Proxy.newProxyInstance(Handles.class.getClassLoader(),
                    new Class<?>[] {IntUnaryOperator.class}, handler);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    public static Idiom[] all() {
        return new Idiom[] {
            new Idiom("handle_of_constructor", Handles::make),
            new Idiom("handle_exact", Handles::exact),
            new Idiom("handle_with_boxes", Handles::boxes),
            new Idiom("handle_of_array_constructor", Handles::array),
            new Idiom("handle_spread", Handles::spread),
            new Idiom("handle_collect", Handles::collect),
            new Idiom("handle_guarded", Handles::guarded),
            new Idiom("variable_handle", Handles::variable),
            new Idiom("array_variable_handle", Handles::element),
            new Idiom("reflected_constructor", Handles::reflectedConstructor),
            new Idiom("reflected_method", Handles::reflectedMethod),
            new Idiom("proxy", Handles::proxy),
        };
    }

    /** Sneaks a checked exception through. */
    private static RuntimeException failed(Throwable t) {
        return new IllegalStateException(t);
    }

    private static void make(int n) {
        try {
            for (int i = 0; i < n; i++) sink += ((Cell) MAKE.invokeExact(i)).value;
        } catch (Throwable t) {
            throw failed(t);
        }
    }

    private static void exact(int n) {
        try {
            for (int i = 0; i < n; i++) sink += (int) ADD.invokeExact(i, 1);
        } catch (Throwable t) {
            throw failed(t);
        }
    }

    private static void boxes(int n) {
        try {
            for (int i = 0; i < n; i++) sink += (Integer) (Object) GENERIC.invokeExact((Object) (i + 1000), (Object) (i + 2000));
        } catch (Throwable t) {
            throw failed(t);
        }
    }

    private static void array(int n) {
        try {
            for (int i = 0; i < n; i++) sink += ((int[]) ARRAY.invokeExact(3)).length;
        } catch (Throwable t) {
            throw failed(t);
        }
    }

    private static void spread(int n) {
        try {
            for (int i = 0; i < n; i++) sink += (Integer) (Object) SPREAD.invokeExact(new Object[] {i + 1000, i + 2000});
        } catch (Throwable t) {
            throw failed(t);
        }
    }

    private static void collect(int n) {
        try {
            for (int i = 0; i < n; i++) sink += (int) COLLECT.invokeExact((Object) "a", (Object) "b", (Object) "c");
        } catch (Throwable t) {
            throw failed(t);
        }
    }

    private static void guarded(int n) {
        try {
            for (int i = 0; i < n; i++) {
                Object o = (Object) GUARDED.invokeExact(i);
                if (o instanceof Cell) sink += ((Cell) o).value;
            }
        } catch (Throwable t) {
            throw failed(t);
        }
    }

    private static void variable(int n) {
        for (int i = 0; i < n; i++) {
            Cell c = new Cell(i);
            VALUE.getAndAdd(c, 1);
            sink += (int) VALUE.get(c);
        }
    }

    private static void element(int n) {
        for (int i = 0; i < n; i++) {
            int[] a = {i, 1};
            ELEMENT.setVolatile(a, 1, 4);
            sink += a[1];
        }
    }

    private static void reflectedConstructor(int n) {
        try {
            for (int i = 0; i < n; i++) sink += CONSTRUCTOR.newInstance(i + 1000).value;
        } catch (ReflectiveOperationException e) {
            throw failed(e);
        }
    }

    private static void reflectedMethod(int n) {
        try {
            for (int i = 0; i < n; i++) sink += (Integer) METHOD.invoke(new Cell(i), i + 1000);
        } catch (ReflectiveOperationException e) {
            throw failed(e);
        }
    }

    private static void proxy(int n) {
        for (int i = 0; i < n; i++) sink += PROXY.applyAsInt(i + 1000);
    }
}
