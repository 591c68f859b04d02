package torture;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import sun.misc.Signal;

/** Threads that compute, throw and allocate, while the process gets signals of its own and starts other processes. */
public final class Signals {
    private static final String[] NAMES = {"WINCH", "CONT", "URG"};

    private Signals() {}

    private static long deep(int depth) {
        if (depth == 0) {
            Known.sink = new Known(1);
            return 1;
        }
        return 1 + deep(depth - 1);
    }

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 400);
        AtomicLong handled = new AtomicLong();
        for (String name : NAMES) {
            Signal.handle(new Signal(name), signal -> handled.incrementAndGet());
        }
        AtomicLong checksum = new AtomicLong();
        Say.together(4, number -> {
            for (int round = 0; round < rounds; round++) {
                checksum.addAndGet(deep(round % 400));
                if (number == 0) {
                    Signal.raise(new Signal(NAMES[round % NAMES.length]));
                } else if (number == 1 && round % 50 == 0) {
                    checksum.addAndGet(process());
                }
                try {
                    checksum.addAndGet(args[round + 10].length());
                } catch (ArrayIndexOutOfBoundsException e) {
                    checksum.incrementAndGet();
                }
            }
        });
        // Signals of one kind that come together may be one.
        while (handled.get() == 0) {
            Thread.sleep(1);
        }
        Say.end(checksum.get(), 4L * rounds);
    }

    private static int process() throws IOException, InterruptedException {
        return new ProcessBuilder("true").start().waitFor();
    }
}
