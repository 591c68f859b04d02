package torture;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import sun.misc.Signal;

/** Runs one of the programs: its name, the size of its work in percent, and what else it wants to know. */
public final class Main {
    private Main() {}

    /** Says when it begins, so that nobody sends a signal to a JVM that does not listen yet. */
    public static void main(String[] args) throws Throwable {
        Say.line("begins");
        String[] rest = Arrays.copyOfRange(args, 1, args.length);
        try {
            Class.forName("torture." + args[0]).getMethod("main", String[].class).invoke(null, (Object) rest);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}

/** What a program says of itself: whole lines, each in one write, so that nothing of the JVM's own gets between. */
final class Say {
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

/** Ends of a JVM that many threads want at once; the second argument says which. */
final class Exits {
    private static volatile Object sink;

    private Exits() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int threads = Say.scaled(args, 20);
        Object lock = new Object();
        for (int i = 0; i < 4; i++) {
            Thread daemon = new Thread(() -> {
                while (true) {
                    synchronized (lock) {
                        sink = new Object[] {new Known(1), sink == null};
                    }
                    LockSupport.parkNanos(10_000);
                }
            }, "daemon-" + i);
            daemon.setDaemon(true);
            daemon.start();
        }
        Thread hook = new Thread(() -> {
            for (int i = 0; i < 1_000; i++) {
                sink = new Known(i);
            }
        }, "hook");
        try {
            Runtime.getRuntime().addShutdownHook(hook);
        } catch (IllegalStateException e) {
            // A signal has ended it already.
            return;
        }
        Say.line("ends");
        CountDownLatch all = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> {
                all.countDown();
                try {
                    all.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                end(args[1]);
            }, "ending-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        all.await();
        switch (args[1]) {
            case "return":
                return;
            case "throw":
                throw new IllegalStateException("thrown on purpose");
            default:
                // Somebody else ends it.
                Thread.sleep(60_000);
        }
    }

    private static void end(String how) {
        switch (how) {
            case "exit":
                System.exit(7);
                break;
            case "halt":
                Runtime.getRuntime().halt(8);
                break;
            default:
                sink = new Known(2);
                break;
        }
    }
}

/** Threads that compute, throw and allocate, while the process gets signals of its own and starts other processes. */
final class Signals {
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
