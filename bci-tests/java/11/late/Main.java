package late;

import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;

/** A thread that is late for safepoints, which another one asks for. Arguments: what it does, milliseconds, a file. */
public class Main {
    private static final int BYTES = 160 << 20;
    private static final int DUMPS = 5;

    private static volatile int sink;
    private static volatile boolean ends;
    private static byte[] from;
    private static byte[] to;

    /** C2 leaves out the check in a loop that counts with an int. */
    private static int loop(int count) {
        int sum = sink;
        for (int i = 0; i < count; i++) { sum = sum * 31 + i; } // line of loop
        return sum;
    }

    private static void copy() {
        System.arraycopy(from, 0, to, 0, BYTES); // line of copy
    }

    /** The pages of a mapped file are there when they are touched first. */
    private static void fault(FileChannel file) throws Exception {
        MappedByteBuffer mapped = file.map(FileChannel.MapMode.READ_ONLY, 0, BYTES);
        mapped.get(to); // line of fault
    }

    private static void work(String what, FileChannel file) throws Exception {
        switch (what) {
            case "loop":
                sink = loop(200_000_000);
                break;
            case "copy":
                copy();
                break;
            case "fault":
                fault(file);
                break;
            default:
                throw new IllegalArgumentException(what);
        }
    }

    public static void main(String[] args) throws Exception {
        String what = args[0];
        long end = System.nanoTime() + Integer.parseInt(args[1]) * 1_000_000L;
        if (!what.equals("loop") && !what.equals("none")) {
            from = new byte[BYTES];
            to = new byte[BYTES];
        }
        CountDownLatch never = new CountDownLatch(1);
        try (FileChannel file = FileChannel.open(Path.of(args[2]), StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            file.write(java.nio.ByteBuffer.allocate(1), BYTES - 1);
            Thread thread = new Thread(() -> {
                try {
                    if (what.equals("none")) {
                        never.await();
                    }
                    while (!ends) {
                        work(what, file);
                    }
                } catch (InterruptedException expected) {
                    // The end.
                } catch (Exception problem) {
                    throw new IllegalStateException(problem);
                }
            }, "t-late");
            thread.start();
            int dumps = 0;
            // On a busy machine the thread may begin late, and each dump takes long.
            while (System.nanoTime() < end || dumps < DUMPS) {
                Thread.sleep(20);
                dumps += Thread.getAllStackTraces().isEmpty() ? 0 : 1;
            }
            ends = true;
            thread.interrupt();
            thread.join();
            System.out.println(dumps);
        }
    }
}
