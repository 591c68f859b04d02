package torture;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/** What a program says of itself: whole lines, each in one write, so that nothing of the JVM's own gets between. */
public final class Say {
    private static final FileOutputStream OUT = new FileOutputStream(FileDescriptor.out);

    private Say() {}

    /** A line, made beforehand for whoever may have no memory left. */
    public static byte[] bytes(String text) {
        return ("\n= " + text + "\n").getBytes(StandardCharsets.US_ASCII);
    }

    /** Prints it. */
    public static void bytes(byte[] line) {
        try {
            OUT.write(line);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Prints a line. */
    public static void line(String text) {
        bytes(bytes(text));
    }

    /** The end of a program: what it computed, and how many {@link Known} it made. */
    public static void end(long checksum, long known) {
        line("checksum " + Long.toHexString(checksum));
        line("known " + known);
    }

    /** The first argument is the size of the work, in percent. */
    static int scaled(String[] args, int of) {
        return Math.max(1, (int) ((long) of * Integer.parseInt(args[0]) / 100));
    }

    /** Starts threads, and waits for all; each has to do its work to the end. */
    static void together(int threads, Work work) throws InterruptedException {
        AtomicInteger ended = new AtomicInteger();
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int number = i;
            all[i] = new Thread(() -> {
                try {
                    work.run(number);
                    ended.incrementAndGet();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }, "worker-" + i);
            all[i].start();
        }
        for (Thread thread : all) {
            thread.join();
        }
        if (ended.get() < threads) {
            throw new IllegalStateException("a worker died");
        }
    }

    /** What a thread does. */
    interface Work {
        void run(int number) throws Exception;
    }
}
