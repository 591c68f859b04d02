package torture;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Classes that nobody wrote: lambdas, proxies, hidden classes, and adapters of method handles. */
public final class Lambdas {
    private Lambdas() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 40);
        AtomicLong checksum = new AtomicLong();
        Say.together(3, number -> {
            for (int round = 0; round < rounds; round++) {
                checksum.addAndGet(once(round));
            }
        });
        Say.end(checksum.get(), rounds * 3L * 62);
    }

    private static long once(int round) throws Exception {
        IntFunction<Known> make = Known::new;
        long sum = IntStream.range(0, 50).mapToObj(make).mapToInt(known -> known.value + round).sum();
        Known.sink = make.apply(round);
        Runnable proxy = (Runnable) Proxy.newProxyInstance(
                new Fresh("none"), new Class<?>[] {Runnable.class}, (self, method, given) -> {
                    Known.sink = new Known(1);
                    return null;
                });
        proxy.run();
        MethodHandle handle = MethodHandles.lookup().findConstructor(Known.class, MethodType.methodType(void.class, int.class));
        handle = MethodHandles.dropArguments(handle, 0, round % 2 == 0 ? String.class : Object.class);
        try {
            for (int i = 0; i < 10; i++) {
                sum += ((Known) handle.invokeWithArguments("text", i)).value;
            }
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
        String text = "round " + round + ' ' + sum + ' ' + 1.5 + null;
        return sum * 31 + text.hashCode();
    }
}
