package torture;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Defines a class, and those inside it, anew; asks the application's loader for all others. */
final class Fresh extends ClassLoader {
    private final String own;

    Fresh(String own) {
        super(Fresh.class.getClassLoader());
        this.own = own;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.equals(own) && !name.startsWith(own + "$")) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            byte[] bytes = read(name);
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    /** The class file of a program. */
    static byte[] read(String name) {
        try (InputStream in = Fresh.class.getClassLoader().getResourceAsStream(name.replace('.', '/') + ".class")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}

/** Class loaders that come and go on several threads. */
final class Unload {
    private Unload() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 120);
        AtomicLong checksum = new AtomicLong();
        Say.together(3, number -> {
            ArrayDeque<ClassLoader> kept = new ArrayDeque<>();
            for (int round = 0; round < rounds; round++) {
                Fresh loader = new Fresh("torture.Plugin");
                Class<?> plugin = loader.loadClass("torture.Plugin");
                checksum.addAndGet((Long) plugin.getMethod("work", int.class).invoke(null, 100));
                kept.add(loader);
                if (kept.size() > 2) {
                    kept.remove();
                }
                if (number == 0 && round % 15 == 14) {
                    System.gc();
                }
            }
        });
        Say.end(checksum.get(), rounds * 300L);
    }
}

/** Compiled code that is thrown away all the time: its class gets a subclass, or what never happened happens. */
final class Deoptimise {
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

/** Classes that nobody wrote: lambdas, proxies, hidden classes, and adapters of method handles. */
final class Lambdas {
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

/** Work that is split over a pool, with futures, parallel streams and a map that all change. */
final class Fork {
    private Fork() {}

    private static final class Sum extends RecursiveTask<Long> {
        private static final long serialVersionUID = 1;
        private final int from;
        private final int to;

        Sum(int from, int to) {
            this.from = from;
            this.to = to;
        }

        @Override
        protected Long compute() {
            if (to - from < 8) {
                Known.sink = new Known(from);
                return (long) from * to;
            }
            Sum left = new Sum(from, (from + to) / 2);
            left.fork();
            return new Sum((from + to) / 2, to).compute() + left.join();
        }
    }

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 20);
        long checksum = 0;
        ForkJoinPool pool = new ForkJoinPool(4);
        ConcurrentHashMap<Integer, Long> map = new ConcurrentHashMap<>();
        for (int round = 0; round < rounds; round++) {
            checksum += pool.invoke(new Sum(0, 1 << 12));
            checksum += IntStream.range(0, 2_000).parallel().mapToLong(i -> map.merge(i % 50, 1L, Long::sum) > 0 ? 1 : 0).sum();
            checksum += CompletableFuture.supplyAsync(() -> 5, pool).thenCombineAsync(
                    CompletableFuture.supplyAsync(() -> 7), Integer::sum).get();
        }
        pool.shutdown();
        Say.end(checksum, rounds * 1024L);
    }
}
