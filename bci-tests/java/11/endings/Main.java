package endings;

import java.nio.charset.StandardCharsets;

/**
 * A small program that ends in the way its first argument says: {@code return}, {@code exit}, {@code halt},
 * {@code throw}, {@code daemons}, or {@code never}.
 */
public final class Main {
    static class Cell {
        final Cell next;

        Cell(Cell next) {
            this.next = next;
        }
    }

    static volatile Cell sink;

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
