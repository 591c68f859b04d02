package walked;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Stacks of all kinds, for the comparison of stack walkers: {@code Main SECONDS}. */
public final class Main {
    private static final int THREADS = 3;

    private static volatile boolean ends;

    private Main() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int seed = 0; seed < THREADS; seed++) {
            int own = seed;
            threads.add(new Thread(() -> work(new Random(own))));
        }
        threads.forEach(Thread::start);
        Thread.sleep(Integer.parseInt(args[0]) * 1000L);
        ends = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done");
    }

    private static void work(Random random) {
        while (!ends) {
            try {
                step(random);
            } catch (UnsupportedOperationException e) {
                Calls.sum++;
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }
    }

    private static void step(Random random) throws Throwable {
        switch (random.nextInt(20)) {
            case 0: Calls.shapes(); break;
            case 1: Calls.recurse(random.nextInt(600), () -> new int[5]); break;
            case 2: Calls.exceptions(); break;
            case 3: Library.strings(); break;
            case 4: Library.arrays(); break;
            case 5: Library.streams(); break;
            case 6: Library.crypto(); break;
            case 7: Library.reflection(); break;
            case 8: Library.classes(); break;
            case 9: Library.locks(); break;
            case 10: Calls.sum += Calls.loop(300_000); break;
            case 11: Calls.sum += (long) Calls.inlined(50_000); break;
            case 12: Calls.sum += Calls.synchronizedCalls(16); break;
            case 13: Calls.sum += Calls.fibonacci(20); break;
            case 14: Library.maps(); break;
            case 15: Library.files(); break;
            case 16:
                Calls.recurse(200, () -> {
                    throw new UnsupportedOperationException();
                });
                break;
            case 17:
                Thread thread = new Thread(() -> Calls.recurse(20, Object::new));
                thread.start();
                thread.join();
                break;
            case 18: Library.virtualThreads(); break;
            default:
                Calls.sink = new Object[1000];
                if (random.nextInt(50) == 0) {
                    System.gc();
                }
        }
    }
}
