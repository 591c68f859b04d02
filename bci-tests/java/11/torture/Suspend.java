package torture;

import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/** Threads that are stopped by {@code Thread.suspend} wherever they are; until JDK 19. */
public final class Suspend {
    private Suspend() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 60);
        Method suspend = Thread.class.getMethod("suspend");
        Method resume = Thread.class.getMethod("resume");
        AtomicBoolean done = new AtomicBoolean();
        Thread[] workers = new Thread[3];
        for (int i = 0; i < workers.length; i++) {
            Object own = new Object();
            workers[i] = new Thread(() -> {
                for (int n = 0; !done.get(); n++) {
                    synchronized (own) {
                        Known.sink = new Known(n);
                    }
                    if (n % 256 == 0) {
                        // A trace of all that they could make would be endless.
                        LockSupport.parkNanos(100_000);
                    }
                }
            }, "worker-" + i);
            workers[i].start();
        }
        // Loaded before anybody is stopped who might hold a lock of the class library.
        suspend.invoke(workers[0]);
        resume.invoke(workers[0]);
        Thread.sleep(10);
        for (int round = 0; round < rounds; round++) {
            for (Thread worker : workers) {
                suspend.invoke(worker);
            }
            for (int i = 0; i < 200; i++) {
                Known.sink = new Known(i);
            }
            if (round % 10 == 0) {
                System.gc();
            }
            Thread.sleep(2);
            for (Thread worker : workers) {
                resume.invoke(worker);
            }
        }
        done.set(true);
        for (Thread worker : workers) {
            worker.join();
        }
        Say.line("suspended " + rounds);
    }
}
