package shapes;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import sun.misc.Unsafe;

/**
 * A program with known numbers: performs every {@link Shape} on the main thread and on two others, and says what each
 * window held. Arguments: rounds on the main thread, rounds on the others.
 */
public final class Main {
    private Main() {}

    /** Runs all shapes that this JVM knows. */
    public static void main(String[] args) throws Throwable {
        int rounds = Integer.parseInt(args[0]);
        int roundsOfOthers = Integer.parseInt(args[1]);
        performAll(rounds);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            threads.add(new Thread(() -> performOrDie(roundsOfOthers), "worker-" + i));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        int feature = Runtime.version().feature();
        if (feature >= 21) {
            runOn("shapes.VirtualThreads", roundsOfOthers);
        }
        if (feature >= 25) {
            runOn("shapes.NativeThreads", roundsOfOthers);
        }
        System.out.println("done");
    }

    /** Performs all shapes on the current thread; ends the program with status 3 when one fails. */
    public static void performOrDie(int rounds) {
        try {
            performAll(rounds);
        } catch (Throwable e) {
            e.printStackTrace();
            System.exit(3);
        }
    }

    private static void performAll(int rounds) throws Throwable {
        Window window = new Window();
        for (Shape shape : all()) {
            window.run(shape, rounds);
        }
    }

    private static List<Shape> all() throws ReflectiveOperationException {
        List<Shape> shapes = new ArrayList<>();
        shapes.addAll(PlainShapes.all());
        shapes.addAll(ConstructorShapes.all());
        shapes.addAll(ArrayShapes.all());
        shapes.addAll(GridShapes.all());
        shapes.addAll(LibraryShapes.all());
        shapes.addAll(IndirectShapes.all());
        shapes.addAll(SerialShapes.all());
        shapes.addAll(ExceptionShapes.all());
        if (Runtime.version().feature() >= 17) {
            shapes.addAll(newer("shapes.RecordShapes"));
        }
        return shapes;
    }

    /** The shapes of a class compiled for a newer JVM; none where no compiler for it was at hand. */
    @SuppressWarnings("unchecked")
    private static List<Shape> newer(String name) throws ReflectiveOperationException {
        try {
            return (List<Shape>) Class.forName(name).getDeclaredMethod("all").invoke(null);
        } catch (ClassNotFoundException e) {
            System.out.println("absent\t" + name);
            return List.of();
        }
    }

    private static void runOn(String name, int rounds) throws Throwable {
        try {
            Class.forName(name).getDeclaredMethod("perform", int.class).invoke(null, rounds);
        } catch (ClassNotFoundException e) {
            System.out.println("absent\t" + name);
        }
    }
}

/** One way to allocate objects, and the truth about how many of which class that makes. */
abstract class Shape {
    /** What it is called in the output. */
    final String name;

    /** Whether the window holds nothing but what {@link #expect} says; otherwise other classes may appear. */
    final boolean exact;

    /** Whether it is performed once before it is measured, so that classes are loaded and call sites linked. */
    final boolean warm;

    Shape(String name, boolean exact, boolean warm) {
        this.name = name;
        this.exact = exact;
        this.warm = warm;
    }

    /** A shape of which every allocation is known. */
    static final boolean EXACT = true;

    /** A shape of which only the named classes are known. */
    static final boolean OWN = false;

    Shape(String name, boolean exact) {
        this(name, exact, true);
    }

    /** Gets ready outside of the window. */
    void prepare(int n) throws Throwable {}

    /** Allocates; {@code n} is the number of rounds. */
    abstract void make(int n) throws Throwable;

    /** What the last {@link #make} allocated. */
    abstract void expect(int n, Expect expected);
}

/**
 * Brackets what one shape allocates on one thread, so that a trace can be compared with it exactly: in the trace the
 * thread's own events between the {@link Begin} and the {@link End} are this window's, whatever the JDK allocates
 * before, after and on other threads.
 */
final class Window {
    /** Opens a window. */
    static final class Begin {}

    /** Closes a window. */
    static final class End {}

    /** Keeps what the shapes allocate from being optimised away. */
    static volatile Object sink;

    /** Loads the markers before they mark anything: loading a class allocates. */
    private static final Class<?>[] MARKERS = {Begin.class, End.class};

    private static final Object PRINTING = new Object();

    private int index;

    /** Performs {@code shape} once outside and once inside a window, then prints what the window holds. */
    void run(Shape shape, int n) throws Throwable {
        if (shape.warm) {
            int warmUp = Math.min(n, 40);
            shape.prepare(warmUp);
            shape.make(warmUp);
        }
        shape.prepare(n);
        sink = new Begin();
        shape.make(n);
        sink = new End();
        Expect expected = new Expect();
        shape.expect(n, expected);
        print(shape, expected);
        index++;
    }

    private void print(Shape shape, Expect expected) {
        String thread = Thread.currentThread().getName();
        StringBuilder lines = new StringBuilder();
        lines.append("window\t").append(thread).append('\t').append(index).append('\t').append(shape.name)
                .append('\t').append(shape.exact ? "exact" : "own").append('\n');
        expected.appendTo(lines);
        synchronized (PRINTING) {
            System.out.print(lines);
            System.out.flush();
        }
    }
}

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

/**
 * An enum that is loaded again and again, by a class loader of its own each time. It is no member of another class,
 * because its nest would end at the loader.
 */
enum Fresh {
    ONE,
    TWO,
    THREE {
        @Override
        int value() {
            return 3;
        }
    };

    int value() {
        return 1;
    }
}
