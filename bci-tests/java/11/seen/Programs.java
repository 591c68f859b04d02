package seen;

import java.io.InputStream;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** A bit of everything that makes the agent call the JVM: many threads, classes, collections, reflection, locks, constants. */
class Calls {
    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();
    static volatile Object sink;
    static int shared;

    static void work(int number) throws Exception {
        for (int i = 0; i < 200; i++) {
            sink = new Object[] {new int[i], "text " + i, Array.newInstance(String.class, 2), new long[2][2][2]};
            sink = ((Object[]) sink).clone();
            synchronized (MONITOR) {
                shared += i;
                if (i % 50 == 0) MONITOR.wait(1);
            }
            LOCK.lock();
            try {
                shared++;
                if (i % 50 == 0) Thread.sleep(1);
            } finally {
                LOCK.unlock();
            }
        }
        for (Method method : Calls.class.getDeclaredMethods()) {
            if (method.getName().equals("made")) sink = method.invoke(null);
        }
        Runnable lambda = () -> sink = "lambda " + number;
        lambda.run();
        sink = Calls.class.getDeclaredConstructor().newInstance();
    }

    static Object made() {
        return new int[100];
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            int number = i;
            threads.add(new Thread(() -> {
                try {
                    work(number);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }));
        }
        for (Thread thread : threads) thread.start();
        for (int i = 0; i < 3; i++) System.gc();
        for (Thread thread : threads) thread.join();
        try {
            sink = new long[Integer.MAX_VALUE];
        } catch (OutOfMemoryError expected) {
            sink = null;
        }
        System.gc();
        System.out.println("done");
    }
}

/**
 * Runs out of stack where it allocates and where it parks, at depths at which different methods find no room, and prints which methods of
 * the agent's it sees in the stack traces.
 */
class Frames {
    static final Set<String> FOUND = new TreeSet<>();
    static volatile Object sink;
    static long overflows;

    static void look(StackTraceElement[] frames) {
        for (StackTraceElement frame : frames) {
            if (frame.getClassName().contains("Martini")) FOUND.add(frame.getClassName() + "." + frame.getMethodName());
        }
    }

    static void instances(int depth) {
        sink = new Object();
        instances(depth + 1);
    }

    static void arrays(int depth) {
        sink = new byte[depth & 15];
        sink = new String[2][1];
        arrays(depth + 1);
    }

    static void clones(int[] original) {
        sink = original.clone();
        clones(original);
    }

    static void parks(int depth) {
        // A thread with a permit does not wait.
        LockSupport.unpark(Thread.currentThread());
        LockSupport.parkNanos(1);
        parks(depth + 1);
    }

    static void overflow(Runnable deep) {
        for (int round = 0; round < 5; round++) {
            // Another depth at each round, so that another method is the one that finds no room.
            below(round, deep);
        }
    }

    static void below(int frames, Runnable deep) {
        if (frames > 0) {
            below(frames - 1, deep);
            return;
        }
        try {
            deep.run();
        } catch (StackOverflowError error) {
            overflows++;
            look(error.getStackTrace());
        }
    }

    public static void main(String[] args) throws Exception {
        Thread deep = new Thread(null, () -> {
            overflow(() -> instances(0));
            overflow(() -> arrays(0));
            overflow(() -> clones(new int[3]));
            overflow(() -> parks(0));
        }, "deep", 256 << 10);
        deep.start();
        deep.join();
        System.out.println("overflows " + overflows);
        System.out.println("found " + FOUND);
    }
}

/** Fills the heap but for what its own end takes, and never asks for more than there is. */
class Full {
    /** Bytes left. */
    private static final long LEFT = 6_000;

    static final byte[][] KEPT = new byte[1 << 16][];

    public static void main(String[] args) {
        Runtime runtime = Runtime.getRuntime();
        int kept = 0;
        int size = 1 << 16;
        while (size >= 64) {
            long free = runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory();
            if (free > size + LEFT) {
                KEPT[kept++] = new byte[size];
            } else {
                size /= 2;
            }
        }
        System.out.println("full");
    }
}

/**
 * Suspends threads wherever they are, as a debugger does, and looks whether others still get on that share nothing with them. All of them
 * meet classes that are new and block on monitors, while threads start and end. (Only one thread starts them, and only this one makes class
 * loaders: on JDK 17 and older all constructors of threads share a monitor, and those of class loaders another.)
 */
class Suspends {
    static final AtomicLongArray ROUNDS = new AtomicLongArray(2);
    static final AtomicLongArray LOADED = new AtomicLongArray(2);
    static final AtomicLong STARTED = new AtomicLong();
    static final AtomicLong FAILED = new AtomicLong();
    static volatile boolean done;
    static byte[] template;

    /** Of this class, each loader makes its own. */
    public static class Fresh {
        public Fresh next;
    }

    static class Loader extends ClassLoader {
        Loader() {
            super(null);
        }

        Class<?> fresh() {
            return defineClass(null, template, 0, template.length);
        }
    }

    /** Two threads that block on each other, and on nothing else. */
    static class Group {
        final int number;
        final ThreadGroup threads;
        final Thread[] members = new Thread[2];
        final Queue<Loader> loaders = new ConcurrentLinkedQueue<>();
        Object monitor = new Object();

        Group(int number) {
            this.number = number;
            this.threads = new ThreadGroup("group " + number);
            for (int i = 0; i < members.length; i++) members[i] = new Thread(threads, this::run, "member " + i);
        }

        void run() {
            try {
                while (!done) {
                    Loader loader = loaders.poll();
                    if (loader != null) {
                        loader.fresh().getDeclaredConstructor().newInstance();
                        LOADED.incrementAndGet(number);
                    }
                    for (int i = 0; i < 20; i++) {
                        Object now = monitor;
                        synchronized (now) {
                            monitor = new Object();
                            if (i == 0) Thread.yield();
                        }
                    }
                    ROUNDS.incrementAndGet(number);
                }
            } catch (ReflectiveOperationException e) {
                FAILED.incrementAndGet();
            }
        }
    }

    static void start(Group[] groups) {
        try {
            while (!done) {
                for (Group group : groups) {
                    if (group.loaders.isEmpty()) for (int i = 0; i < 10; i++) group.loaders.add(new Loader());
                }
                Thread brief = new Thread(STARTED::incrementAndGet, "brief");
                brief.start();
                brief.join();
            }
        } catch (InterruptedException e) {
            FAILED.incrementAndGet();
        }
    }

    @SuppressWarnings({"deprecation", "removal"})
    public static void main(String[] args) throws Exception {
        int times = Integer.parseInt(args[0]);
        // JDK 11 may keep a thread waiting for a while that resumes another.
        long end = System.nanoTime() + 30_000_000_000L;
        try (InputStream in = Suspends.class.getResourceAsStream("Suspends$Fresh.class")) {
            template = in.readAllBytes();
        }
        Group[] groups = {new Group(0), new Group(1)};
        for (Group group : groups) {
            for (Thread thread : group.members) thread.start();
        }
        Thread starter = new Thread(() -> start(groups), "starter");
        starter.start();
        // By then they have met the classes of this program itself, whose loader has locks that all share.
        for (AtomicLongArray counts : new AtomicLongArray[] {ROUNDS, LOADED}) {
            while (counts.get(0) < 10 || counts.get(1) < 10) Thread.sleep(1);
        }
        boolean stalled = false;
        for (int i = 0; i < times && System.nanoTime() < end && !stalled; i++) {
            Thread victim = groups[0].members[i % 2];
            victim.suspend();
            long before = ROUNDS.get(1);
            long started = STARTED.get();
            long limit = System.nanoTime() + 20_000_000_000L;
            while ((ROUNDS.get(1) < before + 4 || STARTED.get() < started + 2) && !stalled) {
                Thread.sleep(1);
                stalled = System.nanoTime() > limit;
            }
            victim.resume();
            Thread.sleep(1);
        }
        done = true;
        starter.join();
        for (Group group : groups) {
            for (Thread thread : group.members) thread.join();
        }
        System.out.println(stalled ? "stalled" : FAILED.get() > 0 ? "failed" : "got on");
    }
}
