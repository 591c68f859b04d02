package seen;

import java.lang.instrument.Instrumentation;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Has the JVM load {@code LockSupport} again; then one thread waits for a lock. */
public final class Reparks {
    private static Instrumentation instrumentation;

    private Reparks() {}

    public static void premain(String args, Instrumentation given) {
        instrumentation = given;
    }

    public static void main(String[] args) throws Exception {
        instrumentation.retransformClasses(LockSupport.class);
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        Thread waiter = new Thread(() -> {
            lock.lock();
            lock.unlock();
        }, "t-waiter");
        waiter.start();
        while (waiter.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        lock.unlock();
        waiter.join();
    }
}
