package requests;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Requests on virtual threads that go from carrier to carrier. */
public final class Virtual {
    private static final int THREADS = 200;
    private static final int HOPS = 5;
    private static final int LENGTH = 20_000;

    private static final AtomicLong SUM = new AtomicLong();

    private Virtual() {}

    static void hops(int number) {
        for (int hop = 0; hop < HOPS; hop++) {
            byte[] bytes = new byte[LENGTH];
            bytes[number % LENGTH] = 1;
            SUM.addAndGet(bytes[hop] + System.identityHashCode(bytes) % 2);
            try {
                Thread.sleep(1 + number % 3);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            threads.add(Thread.ofVirtual().start(() -> hops(number)));
        }
        for (Thread thread : threads) thread.join();
        System.out.println("requests " + THREADS);
        System.out.println("bytes " + HOPS * (LENGTH + 16));
    }
}
