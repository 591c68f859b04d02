package running;

import java.util.ArrayList;
import java.util.List;

/** Virtual threads that compute, one after the other on each carrier. */
public final class Virtual {
    private Virtual() {}

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < 8; number++) {
            threads.add(Thread.ofVirtual().name("v-" + number).start(() -> Main.compute(100_000_000)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("= done");
    }
}
