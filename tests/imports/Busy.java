import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Does for a second or two all that a recording has events for. */
public class Busy {
    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();
    static volatile Object sink;

    static void allocate() {
        List<byte[]> kept = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) {
            byte[] bytes = new byte[1000];
            sink = bytes;
            if (i % 100 == 0) {
                kept.add(bytes);
            }
        }
        sink = kept;
    }

    static long burn(long nanos) {
        long until = System.nanoTime() + nanos;
        long sum = 0;
        while (System.nanoTime() < until) {
            for (int i = 0; i < 1000; i++) {
                sum = sum * 31 + i;
            }
        }
        return sum;
    }

    static void enter() {
        synchronized (MONITOR) {
            burn(30_000_000);
        }
    }

    static void lock() {
        LOCK.lock();
        try {
            burn(30_000_000);
        } finally {
            LOCK.unlock();
        }
    }

    static void await() throws InterruptedException {
        synchronized (MONITOR) {
            MONITOR.wait(40);
        }
    }

    static void work() {
        try {
            for (int i = 0; i < 5; i++) {
                allocate();
                enter();
                lock();
                await();
                Thread.sleep(25);
                LockSupport.parkNanos(30_000_000);
            }
            sink = burn(300_000_000);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Thread thread = new Thread(Busy::work, "busy-" + i);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.gc();
    }
}
