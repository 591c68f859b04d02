package crowd;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * As many threads as the second argument says, "platform" or "virtual", wait thirty frames deep. For each line of standard input it prints
 * the longest time, in nanoseconds, for which another thread that wakes each millisecond did not, since the last line.
 */
public final class Main {
    private static final int DEPTH = 30;
    private static final CountDownLatch END = new CountDownLatch(1);

    private Main() {
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[1]);
        CountDownLatch there = new CountDownLatch(count);
        Runnable body = () -> deep(DEPTH, there);
        for (int i = 0; i < count; i++) {
            if (args[0].equals("virtual")) {
                // Of JDK 21 and later.
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
            } else {
                Thread thread = new Thread(null, body, "worker-" + i, 256 << 10);
                thread.setDaemon(true);
                thread.start();
            }
        }
        there.await();
        AtomicLong longest = new AtomicLong();
        Thread ticker = new Thread(() -> tick(longest), "ticker");
        ticker.setDaemon(true);
        ticker.start();
        System.out.println("up");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            System.out.println("longest " + longest.getAndSet(0));
        }
        System.exit(0);
    }

    private static void deep(int depth, CountDownLatch there) {
        if (depth > 0) {
            deep(depth - 1, there);
            return;
        }
        there.countDown();
        try {
            END.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void tick(AtomicLong longest) {
        long before = System.nanoTime();
        while (true) {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            long now = System.nanoTime();
            longest.accumulateAndGet(now - before, Math::max);
            before = now;
        }
    }
}
