package graph;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.lang.reflect.Array;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** A graph of objects that is known exactly: what holds what, and why each object lives. */
public final class Main {
    static final int CHAIN = Integer.getInteger("graph.chain", 100_000);

    /** A node of the chain: two references with numbers around them. */
    static class Base {
        byte mark = 1;
        Object first;
        long number;
    }

    static final class Node extends Base {
        int own;
        Object second;
        boolean last;

        Node(long number, int own) {
            this.number = number;
            this.own = own;
        }
    }

    /** Held by nothing but a static field, a local variable, a monitor, a thread, ... one class for each way. */
    static final class ByStatic {}
    static final class ByLocal {}
    static final class ByMonitor {}
    static final class ByThreadLocal {}
    static final class ByWeak {}
    static final class BySoft {}
    static final class ByPhantom {}
    static final class ByArray {}
    static final class ByInnerArray {}
    static final class ByThread extends Thread {
        final CountDownLatch ready = new CountDownLatch(1);
        final CountDownLatch done = new CountDownLatch(1);

        @Override
        public void run() {
            ByLocal local = new ByLocal();
            ThreadLocal<Object> threadLocal = ThreadLocal.withInitial(ByThreadLocal::new);
            threadLocal.get();
            synchronized (new ByMonitor()) {
                ready.countDown();
                try {
                    done.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            if (local.hashCode() == 0 && threadLocal.get() == null) {
                System.out.println("never");
            }
        }
    }

    static Object held = new ByStatic();
    static Node chain;
    static Object[] circle = new Object[2];
    static Object[][] rows = {{new ByInnerArray()}, {null, new ByInnerArray()}};
    static long[] numbers = {0x0123456789abcdefL, -1};
    static SoftReference<Object> soft = new SoftReference<>(new BySoft());
    static WeakReference<Object> weak;
    static PhantomReference<Object> phantom;
    static Object strong = new ByWeak();
    static Object strongPhantom = new ByPhantom();
    static Object loaded;

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < CHAIN; i++) {
            Node node = new Node(i, -i);
            node.first = chain;
            node.second = i % 1000 == 0 ? new ByArray[] {new ByArray()} : null;
            chain = node;
        }
        circle[0] = circle;
        circle[1] = new Object[] {circle};
        weak = new WeakReference<>(strong);
        phantom = new PhantomReference<>(strongPhantom, new ReferenceQueue<>());
        URL[] place = {Main.class.getProtectionDomain().getCodeSource().getLocation()};
        loaded = new URLClassLoader(place, null).loadClass("graph.Leaked").getConstructor().newInstance();
        ByThread thread = new ByThread();
        thread.setDaemon(true);
        thread.setName("holder");
        thread.start();
        thread.ready.await();
        System.out.println("built");
        if (arguments.length > 0) {
            System.in.read();
        }
        thread.done.countDown();
        thread.join();
    }
}

/** A recursion of so many frames, in which the JIT keeps objects out of the heap, stays until the JVM ends. */
final class DeepStack {
    private static volatile boolean isDeep;
    private static int total;

    private DeepStack() {}

    public static void main(String[] args) throws InterruptedException {
        int depth = Integer.parseInt(args[0]);
        Runnable descends = () -> {
            for (int i = 0; i < 20_000; i++) total += descend(40, false);
            total += descend(depth, true);
        };
        Thread thread = new Thread(null, descends, "deep", 1L << 30);
        thread.setDaemon(true);
        thread.start();
        while (!isDeep) Thread.sleep(1);
        System.out.println("deep");
    }

    private static int descend(int depth, boolean stays) {
        int[] kept = {depth, 7};
        if (depth == 0) {
            if (stays) stay();
            return 1;
        }
        return descend(depth - 1, stays) + kept[1];
    }

    private static void stay() {
        isDeep = true;
        try {
            Thread.sleep(600_000);
        } catch (InterruptedException e) {
            // The end.
        }
    }
}

/** Fills the heap but for so many bytes, without an OutOfMemoryError, and keeps it so until a byte comes. */
final class Full {
    static final class Link {
        final Object kept;
        final Link next;

        Link(Object kept, Link next) {
            this.kept = kept;
            this.next = next;
        }
    }

    static Link held;

    private Full() {}

    public static void main(String[] arguments) throws Exception {
        // These make no objects.
        FileInputStream in = new FileInputStream(FileDescriptor.in);
        FileOutputStream out = new FileOutputStream(FileDescriptor.out);
        byte[] full = "full\n".getBytes();
        long survivor = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getName().contains("Survivor")) {
                survivor = pool.getUsage().getCommitted();
            }
        }
        long least = Long.parseLong(arguments[0]);
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        for (int size = 1 << 20; size > 64; size /= 2) {
            while (runtime.freeMemory() - survivor > least + 2 * size) {
                held = new Link(new byte[size], held);
            }
            System.gc();
        }
        out.write(full);
        in.read();
        held = null;
    }
}

/** Comes to the moments at which a heap may be dumped, whenever it is asked to. */
final class Moments {
    static final class Held {
        final byte[] bytes = new byte[100_000];
    }

    static int collections;
    static List<Held> held = new ArrayList<>();
    static List<Object> loaded = new ArrayList<>();

    private Moments() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("collect")) {
                collections++;
                System.gc();
            } else if (line.equals("load")) {
                CountDownLatch begun = new CountDownLatch(100);
                Thread loading = new Thread(() -> load(begun));
                loading.setDaemon(true);
                loading.start();
                begun.await();
            } else {
                fill();
            }
            System.out.println(line + " done");
        }
    }

    /** Loads one class again and again, and makes an object of the class of its arrays. */
    private static void load(CountDownLatch begun) {
        try (InputStream in = Moments.class.getResourceAsStream("Moments$Held.class")) {
            byte[] file = in.readAllBytes();
            for (int i = 0; i < 5_000; i++) {
                Class<?> held = new ClassLoader(null) {
                    Class<?> define() {
                        return defineClass(Held.class.getName(), file, 0, file.length);
                    }
                }.define();
                loaded.add(Array.newInstance(held, 1));
                begun.countDown();
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void fill() {
        try {
            while (true) {
                held.add(new Held());
            }
        } catch (OutOfMemoryError e) {
            held = new ArrayList<>();
        }
    }
}

/**
 * Keeps objects of known number while other threads collect and allocate all the time, so that whatever is found of a heap after
 * its dump has been moved since.
 */
final class Restless {
    static final class Known {
        final int number;
        final byte[] weight = new byte[100];

        Known(int number) {
            this.number = number;
        }
    }

    static Known[] known = new Known[5_000];
    static volatile byte[][] filled;
    static volatile Object[] churned;
    static volatile boolean goesOn = true;

    private Restless() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (int i = 0; i < known.length; i++) {
            known[i] = new Known(i);
            // What lies between them dies, so that they are moved.
            churned = new Object[50];
        }
        start(Restless::collect);
        start(Restless::churn);
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            fill();
            awaitRoom();
            System.out.println("fill done");
        }
        goesOn = false;
    }

    private static void start(Runnable body) {
        Thread thread = new Thread(() -> {
            while (goesOn) {
                try {
                    body.run();
                } catch (OutOfMemoryError e) {
                    // The heap is filled on purpose.
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static void collect() {
        System.gc();
        LockSupport.parkNanos(5_000_000);
    }

    private static void churn() {
        Object[] some = new Object[1_000];
        for (int i = 0; i < some.length; i++) {
            some[i] = new byte[i % 100];
        }
        churned = some;
        LockSupport.parkNanos(1_000_000);
    }

    private static void fill() {
        try {
            filled = new byte[10_000][];
            for (int i = 0; i < filled.length; i++) {
                filled[i] = new byte[50_000];
            }
        } catch (OutOfMemoryError e) {
            // As it should be.
        }
        filled = null;
    }

    /** A concurrent collector finds out later that the heap is empty again. */
    private static void awaitRoom() {
        for (int lucky = 0; lucky < 20; lucky++) {
            try {
                churned = new byte[100][50_000];
            } catch (OutOfMemoryError e) {
                lucky = 0;
            }
            LockSupport.parkNanos(1_000_000);
        }
    }
}

/** Threads that wait for a moment on an object of their own again and again, while others compute and the heap is collected. */
final class Waits {
    private static final int THREADS = 32;
    private static final int BUSY_THREADS = 8;
    private static final int COLLECTIONS = 8;

    private static volatile boolean isOver;

    private Waits() {}

    private static void work() {
        while (!isOver) {
            Object own = new Object();
            synchronized (own) {
                try {
                    own.wait(1);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    private static void compute() {
        while (!isOver) {
            // Whoever is woken takes the place of another thread.
        }
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < THREADS; number++) {
            threads.add(new Thread(Waits::work, "waits-" + number));
        }
        for (int number = 0; number < BUSY_THREADS; number++) {
            threads.add(new Thread(Waits::compute, "computes-" + number));
        }
        for (Thread thread : threads) thread.start();
        for (int number = 0; number < COLLECTIONS; number++) {
            Thread.sleep(50);
            System.gc();
        }
        isOver = true;
        for (Thread thread : threads) thread.join();
    }
}
