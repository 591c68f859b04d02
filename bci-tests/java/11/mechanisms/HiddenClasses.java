package mechanisms;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import sun.misc.Unsafe;

/** Code in classes without a name, which no agent is shown before they run. */
final class HiddenClasses {
    static class Element {}

    static class Cell {}

    /** Copied into a hidden class. */
    static final class Template {
        private Template() {}

        static Object make(int kind) {
            switch (kind) {
                case 0:
                    return new Element();
                case 1:
                    return new Element[3];
                case 2:
                    return new Cell[2][3];
                case 3:
                    return new byte[100];
                default:
                    return Copy.BYTES.clone();
            }
        }
    }

    static final class Copy {
        static final short[] BYTES = new short[10];
    }

    private static final MethodHandle MAKE = hidden();

    private HiddenClasses() {}

    private static MethodHandle hidden() {
        String file = Template.class.getName().replace('.', '/') + ".class";
        try (InputStream in = HiddenClasses.class.getClassLoader().getResourceAsStream(file)) {
            Class<?> hidden = define(in.readAllBytes());
            return MethodHandles.lookup().findStatic(hidden, "make", MethodType.methodType(Object.class, int.class));
        } catch (IOException | ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static Class<?> define(byte[] bytes) throws ReflectiveOperationException {
        if (Runtime.version().feature() < 17) {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (Class<?>) Unsafe.class.getMethod("defineAnonymousClass", Class.class, byte[].class, Object[].class)
                    .invoke(field.get(null), HiddenClasses.class, bytes, null);
        }
        Class<?> option = Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption");
        Object options = Array.newInstance(option, 1);
        Array.set(options, 0, option.getField("NESTMATE").get(null));
        MethodHandles.Lookup lookup = (MethodHandles.Lookup) MethodHandles.Lookup.class
                .getMethod("defineHiddenClass", byte[].class, boolean.class, options.getClass())
                .invoke(MethodHandles.lookup(), bytes, true, options);
        return lookup.lookupClass();
    }

    @Makes("mechanisms.HiddenClasses$Element")
    static void instances(int n) throws Throwable {
        for (int i = 0; i < n; i++) {
            Sink.sink = (Object) MAKE.invokeExact(0);
        }
    }

    @Makes("mechanisms.HiddenClasses$Element[]")
    static void references(int n) throws Throwable {
        for (int i = 0; i < n; i++) {
            Sink.sink = (Object) MAKE.invokeExact(1);
        }
    }

    @Makes({"mechanisms.HiddenClasses$Cell[][]", "2 mechanisms.HiddenClasses$Cell[]"})
    static void grids(int n) throws Throwable {
        for (int i = 0; i < n; i++) {
            Sink.sink = (Object) MAKE.invokeExact(2);
        }
    }

    @Makes("byte[]")
    static void bytes(int n) throws Throwable {
        for (int i = 0; i < n; i++) {
            Sink.sink = (Object) MAKE.invokeExact(3);
        }
    }

    @Makes("short[]")
    static void clones(int n) throws Throwable {
        for (int i = 0; i < n; i++) {
            Sink.sink = (Object) MAKE.invokeExact(4);
        }
    }
}
