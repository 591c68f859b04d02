package seen;

import java.io.InputStream;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Suspends threads wherever they are, as a debugger does, and looks whether others still get on that share nothing with them. All of them
 * meet classes that are new and block on monitors, while threads start and end. (Only one thread starts them, and only this one makes class
 * loaders: on JDK 17 and older all constructors of threads share a monitor, and those of class loaders another.)
 */
public class Suspends {
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
