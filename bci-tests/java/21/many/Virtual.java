package many;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Virtual threads that live at once. */
final class Virtual {
    private Virtual() {}

    /** Lets so many virtual threads run {@code body}, and wait for each other. */
    static void perform(int n, Runnable body) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(n);
        CountDownLatch end = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>(n);
        for (int i = 0; i < n; i++) {
            threads.add(Thread.startVirtualThread(() -> {
                body.run();
                done.countDown();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                body.run();
            }));
        }
        done.await();
        end.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
