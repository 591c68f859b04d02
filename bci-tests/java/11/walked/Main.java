package walked;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

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

/** Calls of the program's own methods: of many receivers, recursive, inlined, synchronized, with exceptions; loops without calls. */
final class Calls {
    static volatile Object sink;
    static volatile long sum;

    private static final Object[] NULLS = new Object[4];

    private Calls() {}

    interface Shape {
        double area(int size);
    }

    static final class Square implements Shape {
        @Override
        public double area(int size) {
            return size < 1 ? 1 : 2 + leaf(size);
        }
    }

    static final class Circle implements Shape {
        @Override
        public double area(int size) {
            return size < 1 ? 3 : 4 + leaf(size) * Math.sin(size);
        }
    }

    static final class Line implements Shape {
        @Override
        public double area(int size) {
            return Math.sqrt(size) + leaf(size - 1);
        }
    }

    static final class Dot implements Shape {
        @Override
        public double area(int size) {
            return Math.log(size + 2) + Math.pow(size, 1.1);
        }
    }

    private static double leaf(int size) {
        double x = size;
        for (int i = 0; i < 20; i++) {
            x = x * 1.0001 + i;
        }
        return x;
    }

    static void shapes() {
        Shape[] shapes = {new Square(), new Circle(), new Line(), new Dot()};
        double areas = 0;
        for (int i = 0; i < 20_000; i++) {
            areas += shapes[i & 3].area(i & 15);
        }
        sum += (long) areas;
    }

    static int recurse(int depth, Supplier<Object> then) {
        if (depth == 0) {
            sink = then.get();
            return 1;
        }
        int[] local = new int[depth & 7];
        return recurse(depth - 1, then) + local.length;
    }

    private static void throwing(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("thrown");
        }
        try {
            throwing(depth - 1);
        } catch (IllegalArgumentException e) {
            sink = e;
        }
    }

    static void exceptions() {
        for (int i = 0; i < 200; i++) {
            try {
                throwing(i & 31);
            } catch (IllegalStateException e) {
                sink = e;
            }
        }
        for (int i = 0; i < 1000; i++) {
            try {
                sink = NULLS[i & 7].hashCode();
            } catch (RuntimeException e) {
                sum++;
            }
        }
    }

    static long loop(int rounds) {
        long s = 0;
        for (int i = 0; i < rounds; i++) {
            s += i * 31L ^ (s >>> 3);
        }
        return s;
    }

    static double inlined(int rounds) {
        double s = 0;
        for (int i = 0; i < rounds; i++) {
            s += first(i);
        }
        return s;
    }

    private static double first(int i) {
        return second(i) + 1;
    }

    private static double second(int i) {
        return third(i) * 2;
    }

    private static double third(int i) {
        return i % 5 == 0 ? i / 3.0 : i;
    }

    static synchronized int synchronizedCalls(int depth) {
        return depth < 2 ? 1 : synchronizedCalls(depth - 1) + synchronizedCalls(depth - 2);
    }

    static int fibonacci(int depth) {
        return depth < 2 ? 1 : fibonacci(depth - 1) + fibonacci(depth - 2);
    }
}

/** Calls of the class library: what the JIT replaces by instructions or stubs, native methods, reflection, classes that go. */
final class Library {
    private static final Object LOCK = new Object();
    private static final byte[] GONE = bytes();

    private Library() {}

    static void strings() {
        StringBuilder builder = new StringBuilder();
        for (int i = 0; i < 300; i++) {
            builder.append(i).append(" of ").append(i * 0.5).append('\n');
        }
        String text = builder.toString();
        Calls.sink = text.split("\n");
        Calls.sink = text.replace("of", "OF").toUpperCase().indexOf("7 OF 3.5");
        Calls.sink = String.format("%d %s", text.length(), "x");
        Calls.sink = new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1).equals(text);
    }

    static void arrays() {
        byte[] from = new byte[1 << 14];
        byte[] to = new byte[1 << 14];
        for (int i = 0; i < 50; i++) {
            System.arraycopy(from, i, to, 0, from.length - i);
            Arrays.fill(from, (byte) i);
            Calls.sum += Arrays.hashCode(to) + (Arrays.equals(from, to) ? 1 : 0);
        }
        Object[] numbers = new Object[4096];
        Arrays.setAll(numbers, i -> i);
        Arrays.sort(numbers, Comparator.comparing(x -> -((Integer) x)));
        Calls.sink = numbers.clone();
        Calls.sink = Arrays.copyOf(numbers, 8192);
    }

    static void streams() {
        Stream<String> numbers = IntStream.range(0, 2000).mapToObj(Integer::toString);
        Calls.sum += numbers.filter(s -> s.length() > 1).mapToInt(String::length).sum();
        Calls.sink = Stream.iterate(1, x -> x + 1).limit(500).collect(Collectors.groupingBy(x -> x % 7));
    }

    static void crypto() throws Exception {
        byte[] data = new byte[1 << 14];
        Calls.sink = MessageDigest.getInstance("SHA-256").digest(data);
        Calls.sink = MessageDigest.getInstance("MD5").digest(data);
        Cipher cipher = Cipher.getInstance("AES/CBC/PKCS5Padding");
        cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[16], "AES"));
        Calls.sink = cipher.doFinal(data);
        CRC32 crc = new CRC32();
        crc.update(data);
        Calls.sum += crc.getValue();
        Calls.sink = new BigInteger(2048, new Random(1)).multiply(new BigInteger(2048, new Random(2)));
    }

    /** Called by reflection. */
    public static Object called(Object x) {
        return Calls.recurse(5, () -> new int[10]) + String.valueOf(x);
    }

    static void reflection() throws Throwable {
        Method method = Library.class.getDeclaredMethod("called", Object.class);
        MethodHandle handle = MethodHandles.lookup().unreflect(method);
        MethodType type = MethodType.methodType(Object.class, Object.class);
        MethodHandle filtered = MethodHandles.filterReturnValue(handle, MethodHandles.identity(Object.class).asType(type));
        Class<?>[] interfaces = {Supplier.class, Runnable.class};
        Object proxy = Proxy.newProxyInstance(Library.class.getClassLoader(), interfaces, (o, m, a) -> new Object[3]);
        for (int i = 0; i < 100; i++) {
            Calls.sink = method.invoke(null, i);
            Calls.sink = (Object) handle.invoke((Object) i);
            Calls.sink = (Object) filtered.invoke((Object) i);
            Calls.sink = ((Supplier<?>) proxy).get();
        }
    }

    /** A class that is loaded anew each time. */
    public static final class Gone implements Supplier<Object> {
        @Override
        public Object get() {
            Object last = null;
            for (int i = 0; i < 300; i++) {
                last = step(i);
            }
            return last;
        }

        private static Object step(int i) {
            return i % 3 == 0 ? new byte[i] : Integer.toString(i);
        }
    }

    private static final class Loader extends ClassLoader {
        Loader() {
            super(Library.class.getClassLoader());
        }

        Class<?> define() {
            return defineClass(null, GONE, 0, GONE.length);
        }
    }

    private static byte[] bytes() {
        try (InputStream in = Library.class.getResourceAsStream("Library$Gone.class")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    static void classes() throws Exception {
        for (int i = 0; i < 4; i++) {
            Calls.sink = ((Supplier<?>) new Loader().define().getConstructor().newInstance()).get();
        }
    }

    static void locks() throws Exception {
        for (int i = 0; i < 500; i++) {
            synchronized (LOCK) {
                Calls.sum++;
            }
        }
        Thread.sleep(0, 1000);
        Calls.sink = System.nanoTime() + System.currentTimeMillis() + System.identityHashCode(new Object());
        synchronized (LOCK) {
            LOCK.wait(1);
        }
    }

    static void maps() {
        Map<Object, Object> map = new HashMap<>();
        for (int i = 0; i < 2000; i++) {
            map.put(i, "v" + i);
        }
        ConcurrentHashMap<Object, Object> concurrent = new ConcurrentHashMap<>(map);
        concurrent.computeIfAbsent("x", key -> Calls.recurse(3, Object::new));
        Calls.sink = concurrent;
    }

    static void files() throws IOException {
        File file = File.createTempFile("walked", null);
        Files.write(file.toPath(), new byte[3000]);
        Calls.sink = Files.readAllBytes(file.toPath());
        file.delete();
    }

    /** Threads that give up their carrier while their stacks are deep; nothing before Java 21. */
    static void virtualThreads() throws Exception {
        if (Runtime.version().feature() < 21) {
            return;
        }
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            int depth = i * 30;
            threads.add((Thread) start.invoke(null, (Runnable) () -> virtual(depth)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void virtual(int depth) {
        Calls.recurse(depth, () -> {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            strings();
            return Calls.fibonacci(12);
        });
        Calls.recurse(depth / 2, () -> {
            Calls.shapes();
            return Thread.currentThread();
        });
    }
}
