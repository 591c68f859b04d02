package torture;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Virtual threads that come and go, want monitors and locks, sleep, wait and park. */
public final class Virtual {
    private Virtual() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int crowds = Say.scaled(args, 15);
        int size = 200;
        Object[] monitors = {new Object(), new Object(), "text"};
        ReentrantLock lock = new ReentrantLock();
        AtomicLong checksum = new AtomicLong();
        for (int crowd = 0; crowd < crowds; crowd++) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < size; i++) {
                int number = i;
                threads.add(Thread.ofVirtual().name("virtual-" + i % 9).start(() -> {
                    Object monitor = monitors[number % monitors.length];
                    Known.sink = new Known(number);
                    synchronized (monitor) {
                        checksum.incrementAndGet();
                        if (number % 10 == 0) {
                            Thread.yield();
                        }
                        if (number % 50 == 0) {
                            waitFor(monitor);
                        }
                    }
                    lock.lock();
                    try {
                        checksum.addAndGet(number);
                        Known.sink = new Known(number);
                    } finally {
                        lock.unlock();
                    }
                    LockSupport.parkNanos(number % 3 * 1_000);
                    checksum.addAndGet(deep(number % 60));
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        Say.end(checksum.get(), crowds * size * 2L);
    }

    private static void waitFor(Object monitor) {
        try {
            monitor.wait(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int deep(int depth) {
        if (depth == 0) {
            Thread.yield();
            return 1;
        }
        return deep(depth - 1) + 1;
    }
}
