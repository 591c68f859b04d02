package graph;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;

/** Fills the heap but for so many bytes, without an OutOfMemoryError, and keeps it so until a byte comes. */
public final class Full {
    static final class Link {
        final Object kept;
        final Link next;

        Link(Object kept, Link next) {
            this.kept = kept;
            this.next = next;
        }
    }

    static Link held;

    private Full() {}

    public static void main(String[] arguments) throws Exception {
        // These make no objects.
        FileInputStream in = new FileInputStream(FileDescriptor.in);
        FileOutputStream out = new FileOutputStream(FileDescriptor.out);
        byte[] full = "full\n".getBytes();
        long survivor = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getName().contains("Survivor")) {
                survivor = pool.getUsage().getCommitted();
            }
        }
        long least = Long.parseLong(arguments[0]);
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        for (int size = 1 << 20; size > 64; size /= 2) {
            while (runtime.freeMemory() - survivor > least + 2 * size) {
                held = new Link(new byte[size], held);
            }
            System.gc();
        }
        out.write(full);
        in.read();
        held = null;
    }
}
