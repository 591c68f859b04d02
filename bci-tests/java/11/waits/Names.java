package waits;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;

/** Locks wherever a program keeps them. The thread {@code t-NAME} waits for the lock of that name. */
public final class Names {
    /** How threads are made. */
    static Function<Runnable, Thread> threads = Thread::new;

    private static final Object MUTEX = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Object[] STRIPES = {new Object(), new Object()};
    private static final ConcurrentHashMap<String, Object> BY_NAME = new ConcurrentHashMap<>();
    private static final List<Object> LIST = new ArrayList<>();
    private static final LinkedBlockingQueue<String> QUEUE = new LinkedBlockingQueue<>();
    private static Derived kept;

    /** Fields before and after those of locks, and an interface with one. */
    private static class Base implements Comparable<Base>, Constants {
        int number;
        String text = "text";
        final Object mutex = new Object();
        final ReentrantLock lock = new ReentrantLock(true);
        final Semaphore slots = new Semaphore(0);
        final ReentrantReadWriteLock both = new ReentrantReadWriteLock();

        @Override
        public int compareTo(Base other) {
            return Integer.compare(number, other.number);
        }
    }

    private interface Constants {
        Object SHARED = new Object();
    }

    private static final class Derived extends Base {
        Object other = "other";
        final Object own = new Object();
        Object[] many = {new Object(), new Object()};
    }

    private interface Body {
        void run() throws InterruptedException;
    }

    private Names() {}

    /** With an argument it does not end by itself, and objects are held by local variables only. */
    public static void main(String[] args) throws Exception {
        Derived object = new Derived();
        if (args.length == 0) {
            kept = object;
        }
        BY_NAME.put("name", new Object());
        LIST.add(new Object());
        enter("MUTEX", MUTEX);
        enter("STRIPES", STRIPES[1]);
        enter("BY_NAME", BY_NAME.get("name"));
        enter("LIST", LIST.get(0));
        enter("SHARED", Constants.SHARED);
        enter("class", Names.class);
        enter("mutex", object.mutex);
        enter("own", object.own);
        enter("many", object.many[1]);
        lock("LOCK", LOCK);
        lock("lock", object.lock);
        lock("both", object.both.writeLock());
        Thread semaphore = start("slots", object.slots::acquire);
        waitLong(semaphore, Thread.State.WAITING);
        object.slots.release();
        semaphore.join();
        Thread queue = start("QUEUE", QUEUE::take);
        waitLong(queue, Thread.State.WAITING);
        QUEUE.put("");
        queue.join();
        System.out.println("ready");
        if (args.length > 0) {
            Thread.sleep(1_000_000);
        }
        object.number++;
    }

    private static Thread start(String name, Body body) {
        Thread thread = threads.apply(() -> {
            try {
                body.run();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        thread.setName("t-" + name);
        thread.start();
        return thread;
    }

    /** Until a thread has waited for more than a millisecond, from which on a lock gets a name. */
    private static void waitLong(Thread thread, Thread.State state) throws InterruptedException {
        Main.until(thread, state);
        Thread.sleep(5);
    }

    private static void enter(String name, Object monitor) throws InterruptedException {
        Thread thread;
        synchronized (monitor) {
            thread = start(name, () -> {
                synchronized (monitor) {
                    Thread.onSpinWait();
                }
            });
            waitLong(thread, Thread.State.BLOCKED);
        }
        thread.join();
    }

    private static void lock(String name, Lock lock) throws InterruptedException {
        lock.lock();
        Thread thread = start(name, () -> {
            lock.lock();
            lock.unlock();
        });
        waitLong(thread, Thread.State.WAITING);
        lock.unlock();
        thread.join();
    }
}
