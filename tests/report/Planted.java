import java.util.ArrayList;
import java.util.List;

/** The same work each time; with an argument one method allocates more as often, keeps it, and lets another thread wait for longer. */
public class Planted {
    static final List<Object> KEPT = new ArrayList<>(10_000);

    public static void main(String[] arguments) throws InterruptedException {
        int times = Integer.parseInt(arguments[0]);
        for (int i = 0; i < 2000; i++) usual();
        for (int i = 0; i < times; i++) planted();
        System.gc();
        Thread waiter = new Thread(Planted::locked, "waiter-1");
        synchronized (KEPT) {
            waiter.start();
            Thread.sleep(20 + times);
        }
        waiter.join();
    }

    static void usual() {
        KEPT.add(new long[100]);
        KEPT.clear();
    }

    static void planted() {
        KEPT.add(new byte[10_000]);
    }

    static void locked() {
        synchronized (KEPT) {
            KEPT.add("done");
        }
    }
}
