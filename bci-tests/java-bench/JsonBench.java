import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.concurrent.CyclicBarrier;

/**
 * Reads and prints the same JSON documents a fixed number of times in each of several threads, and prints what that took.
 *
 * <p>Arguments: threads, documents per thread to warm up with, documents per thread to measure. It prints
 * {@code key=value} lines: the CPU time of the process when the measurement begins (its end is for whoever started the process
 * to see, since an agent may work on until the process ends), the wall time of the measured part, and what was allocated in it.
 */
public final class JsonBench implements Runnable {
    /** Trees that each thread keeps, so that some objects outlive a collection. */
    private static final int KEPT = 256;

    private final char[][] documents;
    private final int warmUp;
    private final int measured;
    private final CyclicBarrier barrier;
    private final ThreadMXBean threads;
    private final Json.Node[] kept = new Json.Node[KEPT];

    private long allocations;
    private long bytes;
    private Throwable failure;

    private JsonBench(char[][] documents, int warmUp, int measured, CyclicBarrier barrier, ThreadMXBean threads) {
        this.documents = documents;
        this.warmUp = warmUp;
        this.measured = measured;
        this.barrier = barrier;
        this.threads = threads;
    }

    @Override
    public void run() {
        try {
            work(warmUp);
            barrier.await();
            barrier.await();
            long id = Thread.currentThread().getId();
            long before = threads.getThreadAllocatedBytes(id);
            allocations = work(measured);
            bytes = threads.getThreadAllocatedBytes(id) - before;
            barrier.await();
        } catch (Throwable t) {
            failure = t;
            barrier.reset();
        }
    }

    private long work(int count) {
        Json json = new Json();
        for (int i = 0; i < count; i++) {
            char[] document = documents[i % documents.length];
            Json.Node tree = json.parse(document);
            if (!Arrays.equals(json.print(tree), document)) throw new IllegalStateException("document " + i);
            kept[i % KEPT] = tree;
        }
        return json.allocations + 1;
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        OperatingSystemMXBean process =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        char[][] documents = new char[64][];
        for (int i = 0; i < documents.length; i++) documents[i] = document(i);

        CyclicBarrier barrier = new CyclicBarrier(count + 1);
        JsonBench[] workers = new JsonBench[count];
        Thread[] running = new Thread[count];
        for (int i = 0; i < count; i++) {
            workers[i] = new JsonBench(
                    documents, Integer.parseInt(args[1]), Integer.parseInt(args[2]), barrier, threads);
            running[i] = new Thread(workers[i], "json-" + i);
            running[i].start();
        }
        barrier.await();
        long cpuBefore = process.getProcessCpuTime();
        long wallBefore = System.nanoTime();
        barrier.await();
        barrier.await();
        long wall = System.nanoTime() - wallBefore;
        long cpu = process.getProcessCpuTime() - cpuBefore;
        for (Thread thread : running) thread.join();
        long allocations = 0;
        long bytes = 0;
        for (JsonBench worker : workers) {
            if (worker.failure != null) throw new IllegalStateException(worker.failure);
            allocations += worker.allocations;
            bytes += worker.bytes;
        }
        System.out.println("cpu_before_ns=" + cpuBefore);
        System.out.println("cpu_ns=" + cpu);
        System.out.println("wall_ns=" + wall);
        System.out.println("allocations=" + allocations);
        System.out.println("allocated_bytes=" + bytes);
    }

    /** A document of some dozens of values: an order with lines, as printed by {@link Json#print}. */
    private static char[] document(int seed) {
        StringBuilder text = new StringBuilder();
        int state = seed * 2 + 1;
        text.append("{\"order\":").append(100000 + seed).append(",\"open\":").append(seed % 2 == 0).append(",\"lines\":[");
        for (int line = 0; line < 8; line++) {
            state = state * 1103515245 + 12345;
            int random = (state >>> 8) & 0xffff;
            if (line > 0) text.append(',');
            text.append("{\"sku\":\"item-").append(random).append("\",\"count\":").append(random % 9 + 1);
            text.append(",\"price\":").append(random % 500).append('.').append(10 + random % 90);
            text.append(",\"note\":").append(random % 3 == 0 ? "null" : "\"ship with care\"");
            text.append(",\"sizes\":[").append(random % 40).append(",-").append(random % 7 + 1).append(",0.05]}");
        }
        return text.append("]}").toString().toCharArray();
    }
}
