package shapes;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.util.Map;
import java.util.TreeMap;
import sun.misc.Unsafe;

/** What a window allocated: instances per class, and for arrays their bytes. */
final class Expect {
    private static final Unsafe UNSAFE = unsafe();

    private final Map<String, long[]> byClass = new TreeMap<>();

    /** {@code count} instances of {@code type}, whose bytes are not foretold. */
    Expect of(Class<?> type, long count) {
        return add(type.getTypeName(), count, 0);
    }

    /** {@code count} instances of a class known by name only. */
    Expect of(String name, long count) {
        return add(name, count, 0);
    }

    /** {@code count} arrays of {@code component} with {@code length} elements each. */
    Expect arrays(Class<?> component, int length, long count) {
        return add(component.getTypeName() + "[]", count, count * arrayBytes(component, length));
    }

    /** {@code count} times {@code new element[dims[0]][dims[1]]...[]...} with {@code brackets} dimensions in all. */
    Expect grids(Class<?> element, int brackets, int[] dims, long count) {
        Class<?>[] components = new Class<?>[brackets];
        Class<?> component = element;
        for (int level = brackets - 1; level >= 0; level--) {
            components[level] = component;
            component = Array.newInstance(component, 0).getClass();
        }
        long arrays = count;
        for (int level = 0; level < dims.length; level++) {
            arrays(components[level], dims[level], arrays);
            arrays *= dims[level];
        }
        return this;
    }

    void appendTo(StringBuilder lines) {
        byClass.forEach((name, numbers) -> lines.append("expect\t").append(numbers[0]).append('\t')
                .append(numbers[1] == 0 ? "-" : String.valueOf(numbers[1])).append('\t').append(name).append('\n'));
    }

    private Expect add(String name, long count, long bytes) {
        if (count > 0) {
            long[] numbers = byClass.computeIfAbsent(name, unused -> new long[2]);
            numbers[0] += count;
            numbers[1] += bytes;
        }
        return this;
    }

    private static long arrayBytes(Class<?> component, int length) {
        Class<?> type = Array.newInstance(component, 0).getClass();
        long bytes = UNSAFE.arrayBaseOffset(type) + (long) length * UNSAFE.arrayIndexScale(type);
        return (bytes + 7) / 8 * 8;
    }

    private static Unsafe unsafe() {
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
