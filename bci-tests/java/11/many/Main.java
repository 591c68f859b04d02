package many;

import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import mechanisms.Forged;

/**
 * Very many sites, threads that live at once, and virtual threads where there are any, each of which makes a known number
 * of objects. Arguments: classes of sites, sites per class, threads, virtual threads. Prints the most memory it ever had.
 */
public final class Main {
    /** Made at each of the many sites. */
    public static final class Sited {}

    static final class OfThread {}

    static final class OfVirtualThread {}

    /** Objects that each thread makes. */
    private static final int ROUNDS = 25;

    static volatile Object sink;

    private Main() {}

    /** Does it all. */
    public static void main(String[] args) throws Exception {
        List<Runnable> sites = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            sites.add(Forged.sites(Integer.parseInt(args[1]), Sited.class));
        }
        for (Runnable code : sites) {
            code.run();
            code.run();
        }
        int threads = Integer.parseInt(args[2]);
        CountDownLatch done = new CountDownLatch(threads);
        CountDownLatch end = new CountDownLatch(1);
        List<Thread> living = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(null, () -> {
                for (int round = 0; round < ROUNDS; round++) {
                    sink = new OfThread();
                }
                done.countDown();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }, "many-" + i, 128 << 10);
            thread.start();
            living.add(thread);
        }
        done.await();
        end.countDown();
        for (Thread thread : living) {
            thread.join();
        }
        int virtual = Integer.parseInt(args[3]);
        if (virtual > 0) {
            Class.forName("many.Virtual").getDeclaredMethod("perform", int.class, Runnable.class)
                    .invoke(null, virtual, (Runnable) Main::inVirtualThread);
        }
        for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                System.out.println(line.replaceAll("[^0-9]", ""));
            }
        }
    }

    private static void inVirtualThread() {
        for (int round = 0; round < ROUNDS; round++) {
            sink = new OfVirtualThread();
        }
    }
}
