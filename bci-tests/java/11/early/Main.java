package early;

import java.util.Hashtable;
import java.util.WeakHashMap;

/** Threads that begin at once to make large arrays in classes that the VM loads before anything else. */
public class Main {
    static volatile Object sink;

    public static void main(String[] args) throws InterruptedException {
        int times = Integer.parseInt(args[1]);
        Thread[] threads = new Thread[Integer.parseInt(args[0])];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int n = 0; n < times; n++) {
                    sink = new WeakHashMap<Object, Object>(4096);
                    sink = new Hashtable<Object, Object>(4099);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
    }
}
