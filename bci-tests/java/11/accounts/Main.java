package accounts;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Prints what the JVM accounts to each of its threads: name and bytes. */
public final class Main {
    static final ThreadMXBean ACCOUNTS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    static volatile Object sink;

    private Main() {}

    static final class Cell {
        final Object next;

        Cell(Object next) {
            this.next = next;
        }
    }

    static void allocate(int rounds) {
        for (int i = 0; i < rounds; i++) {
            sink = new Cell(null);
            sink = new byte[i % 1000];
            sink = new Cell[2][i % 7];
        }
        // Too large for a thread's own allocation buffer.
        sink = new long[1 << 18];
    }

    public static void main(String[] args) throws Exception {
        List<Thread> parked = new ArrayList<>();
        for (int i = 1; i <= 3; i++) {
            int rounds = i * 4_000;
            Thread thread = new Thread(() -> {
                allocate(rounds);
                while (true) {
                    LockSupport.park();
                }
            }, "parked-" + i);
            thread.setDaemon(true);
            thread.start();
            parked.add(thread);
        }
        long[] last = new long[1];
        // So that the thread that ends finds the classes of the accounting loaded.
        ACCOUNTS.getThreadAllocatedBytes(Thread.currentThread().getId());
        Thread ended = new Thread(() -> {
            allocate(6_000);
            last[0] = ACCOUNTS.getThreadAllocatedBytes(Thread.currentThread().getId());
        }, "ended");
        ended.start();
        ended.join();
        System.out.println("ended " + last[0]);
        if (Runtime.version().feature() >= 21) {
            List<?> carriers = (List<?>) Class.forName("accounts.Virtual").getDeclaredMethod("carriers").invoke(null);
            carriers.forEach(carrier -> parked.add((Thread) carrier));
        }
        for (Thread thread : parked) {
            while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
                Thread.sleep(1);
            }
            System.out.println(thread.getName() + " " + ACCOUNTS.getThreadAllocatedBytes(thread.getId()));
        }
    }
}
