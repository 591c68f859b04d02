package torture;

import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicLong;

/** Compiled code that is thrown away all the time: its class gets a subclass, or what never happened happens. */
public final class Deoptimise {
    private static final int TIMES = 20_000;

    private Deoptimise() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 60);
        AtomicLong checksum = new AtomicLong();
        for (int round = 0; round < rounds; round++) {
            Fresh loader = new Fresh("torture.Family");
            Class<?> family = loader.loadClass("torture.Family");
            Method spin = family.getMethod("spin", family, int.class);
            Method trap = family.getMethod("trap", Object.class, int[].class, int.class);
            Object parent = family.getConstructor().newInstance();
            Say.together(3, number -> {
                Object of = number < 2 ? parent
                        : loader.loadClass("torture.Family$Child").getConstructor().newInstance();
                checksum.addAndGet((Long) spin.invoke(null, of, TIMES));
            });
            int[] array = {100, 200, 300};
            for (int i = 0; i < 3_000; i++) {
                Object object = i < 2_900 ? (Object) 7 : i < 2_950 ? "text" : i < 2_975 ? null : (Object) 0;
                checksum.addAndGet((Integer) trap.invoke(null, object, array, i < 2_800 ? 1 : i % 4));
            }
        }
        Say.end(checksum.get(), rounds * 3L * TIMES / 40);
    }
}
