package accounts;

import java.util.ArrayList;
import java.util.List;

/** Allocates on virtual threads. */
final class Virtual {
    private Virtual() {}

    /** The platform threads that carried them. */
    static List<Thread> carriers() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(Thread.ofVirtual().name("virtual-" + i).start(() -> Main.allocate(2_000)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        List<Thread> carriers = new ArrayList<>();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("ForkJoinPool-1-worker-")) {
                carriers.add(thread);
            }
        }
        return carriers;
    }
}
