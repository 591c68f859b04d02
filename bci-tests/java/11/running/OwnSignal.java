package running;

import java.util.concurrent.atomic.AtomicInteger;
import sun.misc.Signal;

/** A program that handles SIGPROF itself, from a moment on. */
public final class OwnSignal {
    private OwnSignal() {}

    public static void main(String[] args) throws Exception {
        long sum = Main.compute(20_000_000);
        AtomicInteger handled = new AtomicInteger();
        Signal.handle(new Signal("PROF"), signal -> handled.incrementAndGet());
        Thread.sleep(1_000);
        int before = handled.get();
        sum += Main.compute(200_000_000);
        int others = handled.get() - before;
        Signal.raise(new Signal("PROF"));
        while (handled.get() == before + others) {
            Thread.sleep(1);
        }
        System.out.println("= " + sum + " and " + others + " signals of others");
    }
}
