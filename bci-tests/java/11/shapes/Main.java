package shapes;

import java.util.ArrayList;
import java.util.List;

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
