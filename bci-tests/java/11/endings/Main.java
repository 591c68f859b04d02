package endings;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A small program that ends in the way its first argument says: {@code return}, {@code exit}, {@code halt},
 * {@code throw}, {@code daemons}, {@code never}, in native code, or without memory.
 */
public final class Main {
    static class Cell {
        final Cell next;

        Cell(Cell next) {
            this.next = next;
        }
    }

    static volatile Cell sink;

    static final List<Object> kept = new ArrayList<>();

    /** What the library does that the property {@code library} names. */
    static native void nativeEnd(int way);

    private Main() {}

    /** Allocates a little, says so on both streams, and ends. */
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 1000; i++) {
            sink = new Cell(sink);
        }
        System.out.write("1000 cells \u00e4\n".getBytes(StandardCharsets.UTF_8));
        System.out.flush();
        System.err.println("to standard error");
        switch (args[0]) {
            case "return":
                return;
            case "exit":
                System.exit(7);
                break;
            case "halt":
                Runtime.getRuntime().halt(8);
                break;
            case "throw":
                throw new IllegalStateException("thrown on purpose");
            case "native":
                endNatively(args);
                break;
            case "native_elsewhere":
                allocateForEver(true);
                Thread thread = new Thread(() -> endNatively(args));
                thread.start();
                thread.join();
                break;
            case "fill":
                fill();
                break;
            case "fill_elsewhere":
                allocateForEver(true);
                new Thread(Main::fill).start();
                break;
            case "array":
                kept.add(new long[Integer.MAX_VALUE]);
                break;
            case "thread":
                noThread();
                break;
            case "overflow":
                overflow(0);
                break;
            case "daemons":
                allocateForEver(true);
                Thread.sleep(50);
                break;
            case "never":
                allocateForEver(false);
                System.out.println("allocating");
                break;
            default:
                throw new IllegalArgumentException("unknown ending " + args[0]);
        }
    }

    private static void endNatively(String[] args) {
        System.load(System.getProperty("library"));
        nativeEnd(Integer.parseInt(args[1]));
        System.out.println("went on");
    }

    private static void fill() {
        while (true) {
            kept.add(new byte[100]);
        }
    }

    /** The system has no room for the stack of a thread; the program goes on. */
    private static void noThread() {
        try {
            new Thread(null, () -> {}, "large", 1L << 46).start();
        } catch (OutOfMemoryError error) {
            System.out.println("no thread");
        }
    }

    private static int overflow(int depth) {
        return overflow(depth + 1) + 1;
    }

    private static void allocateForEver(boolean daemon) {
        for (int i = 0; i < 3; i++) {
            Thread thread = new Thread(() -> {
                while (true) {
                    sink = new Cell(new Cell(null));
                }
            }, "endless-" + i);
            thread.setDaemon(daemon);
            thread.start();
        }
    }
}
