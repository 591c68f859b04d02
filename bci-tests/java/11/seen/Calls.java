package seen;

import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** A bit of everything that makes the agent call the JVM: many threads, classes, collections, reflection, locks, constants. */
public class Calls {
    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();
    static volatile Object sink;
    static int shared;

    static void work(int number) throws Exception {
        for (int i = 0; i < 200; i++) {
            sink = new Object[] {new int[i], "text " + i, Array.newInstance(String.class, 2), new long[2][2][2]};
            sink = ((Object[]) sink).clone();
            synchronized (MONITOR) {
                shared += i;
                if (i % 50 == 0) MONITOR.wait(1);
            }
            LOCK.lock();
            try {
                shared++;
                if (i % 50 == 0) Thread.sleep(1);
            } finally {
                LOCK.unlock();
            }
        }
        for (Method method : Calls.class.getDeclaredMethods()) {
            if (method.getName().equals("made")) sink = method.invoke(null);
        }
        Runnable lambda = () -> sink = "lambda " + number;
        lambda.run();
        sink = Calls.class.getDeclaredConstructor().newInstance();
    }

    static Object made() {
        return new int[100];
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            int number = i;
            threads.add(new Thread(() -> {
                try {
                    work(number);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }));
        }
        for (Thread thread : threads) thread.start();
        for (int i = 0; i < 3; i++) System.gc();
        for (Thread thread : threads) thread.join();
        try {
            sink = new long[Integer.MAX_VALUE];
        } catch (OutOfMemoryError expected) {
            sink = null;
        }
        System.gc();
        System.out.println("done");
    }
}
