package seen;

import java.io.InputStream;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Suspends threads wherever they are, as a debugger does, and looks whether others still get on that share nothing with them. All of them
 * meet classes that are new, block on monitors and start threads.
 */
public class Suspends {
    static final AtomicLongArray ROUNDS = new AtomicLongArray(2);
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
        Object monitor = new Object();

        Group(int number) {
            this.number = number;
            this.threads = new ThreadGroup("group " + number);
            for (int i = 0; i < members.length; i++) members[i] = new Thread(threads, this::run, "member " + i);
        }

        void run() {
            try {
                while (!done) {
                    new Loader().fresh().getDeclaredConstructor().newInstance();
                    for (int i = 0; i < 20; i++) {
                        Object now = monitor;
                        synchronized (now) {
                            monitor = new Object();
                            if (i == 0) Thread.yield();
                        }
                    }
                    Thread brief = new Thread(threads, () -> ROUNDS.incrementAndGet(number), "brief");
                    brief.start();
                    brief.join();
                }
            } catch (ReflectiveOperationException | InterruptedException e) {
                FAILED.incrementAndGet();
            }
        }
    }

    @SuppressWarnings({"deprecation", "removal"})
    public static void main(String[] args) throws Exception {
        int times = Integer.parseInt(args[0]);
        try (InputStream in = Suspends.class.getResourceAsStream("Suspends$Fresh.class")) {
            template = in.readAllBytes();
        }
        Group[] groups = {new Group(0), new Group(1)};
        for (Group group : groups) {
            for (Thread thread : group.members) thread.start();
        }
        while (ROUNDS.get(0) < 10 || ROUNDS.get(1) < 10) Thread.sleep(1);
        boolean stalled = false;
        for (int i = 0; i < times && !stalled; i++) {
            Thread victim = groups[0].members[i % 2];
            victim.suspend();
            long before = ROUNDS.get(1);
            long limit = System.nanoTime() + 20_000_000_000L;
            while (ROUNDS.get(1) < before + 4 && !stalled) {
                Thread.sleep(1);
                stalled = System.nanoTime() > limit;
            }
            victim.resume();
            Thread.sleep(1);
        }
        done = true;
        for (Group group : groups) {
            for (Thread thread : group.members) thread.join();
        }
        System.out.println(stalled ? "stalled" : FAILED.get() > 0 ? "failed" : "got on");
    }
}
