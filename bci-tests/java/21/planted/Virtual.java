package planted;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Fifty virtual threads that are parked until standard input ends. */
public final class Virtual {
    private Virtual() {
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            threads.add(Thread.ofVirtual().start(Virtual::park));
        }
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
        System.out.println("up");
        while (System.in.read() >= 0) {
            continue;
        }
        System.out.println("over");
        System.exit(0);
    }

    private static void park() {
        while (true) {
            LockSupport.park();
        }
    }
}
