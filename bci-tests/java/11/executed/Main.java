package executed;

import java.lang.management.ManagementFactory;

/** Makes 10,000 objects that no one keeps, which the JIT may remove, and says how many bytes the JVM accounts to the thread meanwhile. */
public class Main {
    static long sum;

    static class Pair {
        final long one;
        final long other;

        Pair(long one, long other) {
            this.one = one;
            this.other = other;
        }
    }

    static void path(int i) {
        Pair pair = new Pair(i, i + 1);
        sum += pair.one ^ pair.other;
    }

    public static void main(String[] args) {
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().getId();
        threads.getThreadAllocatedBytes(id);
        path(0);
        long before = threads.getThreadAllocatedBytes(id);
        for (int i = 0; i < 10_000; i++) path(i);
        long accounted = threads.getThreadAllocatedBytes(id) - before;
        System.out.println("accounted=" + accounted + " sum=" + sum);
    }
}
