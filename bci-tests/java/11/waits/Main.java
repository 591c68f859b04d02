package waits;

import java.util.ArrayList;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Threads that wait for each other as often as it says, on monitors that it says, and it says how long that took. A line is
 * {@code kind thread owner-or-end nanoseconds}; the names of the threads that count begin with {@code t-}.
 */
public final class Main {
    /** An object that nobody else waits on. */
    static final class Monitor {}

    private static final ConcurrentLinkedQueue<String> SAID = new ConcurrentLinkedQueue<>();

    private Main() {}

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "monitors":
                contended();
                recursive();
                pool();
                objectWaits();
                break;
            case "parks":
                locks();
                parks();
                break;
            case "passing":
                passing(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
                break;
            case "many":
                many(Integer.parseInt(args[1]));
                break;
            case "classes":
                classes(Main::needsClass);
                return;
            case "deadlock":
                deadlock();
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
        SAID.forEach(System.out::println);
    }

    static void say(String kind, String what, long begin) {
        long nanos = System.nanoTime() - begin;
        SAID.add(kind + " " + Thread.currentThread().getName() + " " + what + " " + nanos);
    }

    static Thread start(String name, Callable<?> body) {
        Thread thread = new Thread(() -> {
            try {
                body.call();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name);
        thread.start();
        return thread;
    }

    /** Returns when the thread is in that state, and the JVM has reported its wait: a thread is BLOCKED shortly before that. */
    static void until(Thread thread, Thread.State state) throws InterruptedException {
        reaches(thread, state);
        Thread.sleep(5);
    }

    static void reaches(Thread thread, Thread.State state) throws InterruptedException {
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
    }

    /** Takes its time. */
    static final class Slow {
        static final long READY;

        static {
            START.countDown();
            try {
                NEEDED.await();
                Thread.sleep(200);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            READY = System.nanoTime();
        }
    }

    private static final CountDownLatch START = new CountDownLatch(1);
    /** The other thread has started, which may take long, and needs the class next. */
    private static final CountDownLatch NEEDED = new CountDownLatch(1);

    /** One thread initialises a class that another needs. */
    static void classes(Callable<?> other) throws Exception {
        // The classes of latches and of sleep first, lest the two threads meet at one of them, too.
        CountDownLatch rehearsal = new CountDownLatch(1);
        Thread early = start("t-early", () -> {
            rehearsal.await();
            Thread.sleep(1);
            return null;
        });
        reaches(early, Thread.State.WAITING);
        rehearsal.countDown();
        early.join();
        Thread first = start("t-first", () -> Slow.READY);
        START.await();
        other.call();
        first.join();
        SAID.forEach(System.out::println);
    }

    /** Waits until the class is initialised. */
    static Void needsClass() {
        long begin = System.nanoTime();
        NEEDED.countDown();
        say("initialised", "first", Math.max(begin, Slow.READY));
        return null;
    }

    /** Enters a monitor that {@code owner} holds. */
    static Void enter(Object monitor, String owner) {
        long begin = System.nanoTime();
        synchronized (monitor) {
            say("enter", owner, begin);
        }
        return null;
    }

    /** Twenty enters, each of a monitor that another thread holds. */
    private static void contended() throws Exception {
        Monitor monitor = new Monitor();
        for (int i = 0; i < 20; i++) {
            String owner = "t-owner-" + i;
            CountDownLatch held = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            Thread holder = start(owner, () -> {
                hold(monitor, held, release);
                return null;
            });
            held.await();
            Thread waiter = start("t-enter-" + i, () -> enter(monitor, owner));
            until(waiter, Thread.State.BLOCKED);
            release.countDown();
            holder.join();
            waiter.join();
        }
    }

    private static void hold(Object monitor, CountDownLatch held, CountDownLatch release) throws InterruptedException {
        synchronized (monitor) {
            held.countDown();
            release.await();
        }
    }

    /** A monitor entered three times by its owner is contended once; one inside another has an owner of its own. */
    private static void recursive() throws Exception {
        Monitor outer = new Monitor();
        Monitor inner = new Monitor();
        Thread last;
        synchronized (inner) {
            Thread middle = start("t-middle", () -> {
                synchronized (outer) {
                    synchronized (outer) {
                        synchronized (outer) {
                            enter(inner, "main");
                        }
                    }
                }
                return null;
            });
            until(middle, Thread.State.BLOCKED);
            last = start("t-last", () -> enter(outer, "t-middle"));
            until(last, Thread.State.BLOCKED);
        }
        last.join();
    }

    /** Four threads of a pool find the monitor taken by the first thread. */
    private static void pool() throws Exception {
        Monitor monitor = new Monitor();
        ArrayList<Thread> workers = new ArrayList<>();
        ExecutorService pool = Executors.newCachedThreadPool(task -> {
            workers.add(new Thread(task, "t-pool-" + workers.size()));
            return workers.get(workers.size() - 1);
        });
        synchronized (monitor) {
            for (int i = 0; i < 4; i++) {
                pool.execute(() -> enter(monitor, "main"));
                until(workers.get(i), Thread.State.BLOCKED);
            }
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        for (Thread worker : workers) {
            worker.join();
        }
    }

    /** Object.wait that times out, is notified, is interrupted. */
    private static void objectWaits() throws Exception {
        Monitor monitor = new Monitor();
        start("t-wait-timeout", () -> {
            synchronized (monitor) {
                long begin = System.nanoTime();
                monitor.wait(30);
                say("wait", "timeout", begin);
            }
            return null;
        }).join();
        Thread notified = start("t-wait-notified", () -> {
            synchronized (monitor) {
                long begin = System.nanoTime();
                monitor.wait();
                say("wait", "notified", begin);
            }
            return null;
        });
        until(notified, Thread.State.WAITING);
        synchronized (monitor) {
            monitor.notify();
        }
        notified.join();
        Thread interrupted = start("t-wait-interrupted", () -> {
            synchronized (monitor) {
                long begin = System.nanoTime();
                try {
                    monitor.wait(100_000);
                } catch (InterruptedException e) {
                    say("wait", "interrupted", begin);
                }
            }
            return null;
        });
        until(interrupted, Thread.State.TIMED_WAITING);
        interrupted.interrupt();
        interrupted.join();
    }

    static Void lock(Lock lock, String owner) {
        long begin = System.nanoTime();
        lock.lock();
        say("lock", owner, begin);
        lock.unlock();
        return null;
    }

    /** Locks of java.util.concurrent that the first thread holds. */
    private static void locks() throws Exception {
        for (int i = 0; i < 20; i++) {
            ReentrantLock lock = new ReentrantLock(i % 2 == 0);
            held(lock, "t-lock-" + i, lock, "main");
        }
        ReentrantReadWriteLock both = new ReentrantReadWriteLock();
        held(both.writeLock(), "t-read", both.readLock(), "main");
        held(both.writeLock(), "t-write", both.writeLock(), "main");
        held(both.readLock(), "t-write-read", both.writeLock(), "nobody");
    }

    private static void held(Lock held, String name, Lock wanted, String owner) throws Exception {
        held.lock();
        Thread waiter = start(name, () -> lock(wanted, owner));
        until(waiter, Thread.State.WAITING);
        held.unlock();
        waiter.join();
    }

    private static void park(String name, String end, Thread.State state, Callable<?> body, Callable<?> wake)
            throws Exception {
        Thread thread = start(name, () -> {
            long begin = System.nanoTime();
            try {
                body.call();
            } catch (InterruptedException e) {
                // It goes on.
            }
            say("park", end, begin);
            return null;
        });
        if (wake != null) {
            until(thread, state);
            wake.call();
        }
        thread.join();
    }

    /** Everything else of java.util.concurrent that waits. */
    private static void parks() throws Exception {
        Semaphore semaphore = new Semaphore(0);
        park("t-semaphore", "notified", Thread.State.WAITING, () -> {
            semaphore.acquire();
            return null;
        }, () -> {
            semaphore.release();
            return null;
        });
        CountDownLatch latch = new CountDownLatch(1);
        park("t-latch", "timeout", null, () -> latch.await(20, TimeUnit.MILLISECONDS), null);
        LinkedBlockingQueue<String> queue = new LinkedBlockingQueue<>();
        park("t-queue", "notified", Thread.State.WAITING, queue::take, () -> queue.add("x"));
        ReentrantLock lock = new ReentrantLock();
        Condition condition = lock.newCondition();
        Thread waiter = start("t-condition", () -> {
            lock.lock();
            long begin = System.nanoTime();
            try {
                condition.await();
            } catch (InterruptedException e) {
                say("park", "interrupted", begin);
            }
            lock.unlock();
            return null;
        });
        until(waiter, Thread.State.WAITING);
        waiter.interrupt();
        waiter.join();
        park("t-condition-notified", "notified", Thread.State.WAITING, () -> {
            lock.lock();
            condition.await();
            lock.unlock();
            return null;
        }, () -> {
            lock.lock();
            condition.signal();
            lock.unlock();
            return null;
        });
        park("t-condition-timeout", "timeout", null, () -> {
            lock.lock();
            boolean isSignalled = condition.await(20, TimeUnit.MILLISECONDS);
            lock.unlock();
            return isSignalled;
        }, null);
    }

    /** One thread blocks so often on each of so many monitors, of which the collector takes those that are done with. */
    private static void passing(int number, int times) throws Exception {
        LinkedBlockingQueue<Monitor> next = new LinkedBlockingQueue<>();
        Semaphore done = new Semaphore(0);
        Thread thread = start("t-passing", () -> {
            for (int i = 0; i < times * number; i++) {
                synchronized (next.take()) {
                    done.release();
                }
            }
            return null;
        });
        for (int i = 0; i < number; i++) {
            Monitor monitor = new Monitor();
            for (int time = 0; time < times; time++) {
                synchronized (monitor) {
                    next.put(monitor);
                    while (thread.getState() != Thread.State.BLOCKED) {
                        Thread.yield();
                    }
                }
                done.acquire();
            }
            if (i % 20 == 0) {
                System.gc();
            }
        }
        thread.join();
    }

    /** So many threads block on one monitor at once. */
    private static void many(int number) throws Exception {
        Monitor monitor = new Monitor();
        Thread[] threads = new Thread[number];
        synchronized (monitor) {
            for (int i = 0; i < number; i++) {
                threads[i] = new Thread(null, () -> enter(monitor, "main"), "t-" + i, 128 << 10);
                threads[i].start();
            }
            for (Thread thread : threads) {
                reaches(thread, Thread.State.BLOCKED);
            }
            // A thread is blocked a little before the VM says so, and who holds the monitor is asked then.
            Thread.sleep(500);
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Two threads with two monitors, and two with two locks, for ever. */
    private static void deadlock() throws Exception {
        Monitor[] monitors = {new Monitor(), new Monitor()};
        ReentrantLock[] locks = {new ReentrantLock(), new ReentrantLock()};
        CountDownLatch ready = new CountDownLatch(4);
        Thread[] stuck = new Thread[4];
        for (int i = 0; i < 2; i++) {
            int first = i;
            stuck[i] = new Thread(() -> {
                synchronized (monitors[first]) {
                    await(ready);
                    enter(monitors[1 - first], "never");
                }
            }, "t-dead-" + i);
            stuck[2 + i] = new Thread(() -> {
                locks[first].lock();
                await(ready);
                lock(locks[1 - first], "never");
            }, "t-dead-lock-" + i);
        }
        for (Thread thread : stuck) {
            thread.setDaemon(true);
            thread.start();
        }
        ready.await();
        for (int i = 0; i < stuck.length; i++) {
            until(stuck[i], i < 2 ? Thread.State.BLOCKED : Thread.State.WAITING);
        }
        System.out.println("stuck");
        // Until the test has seen enough.
        while (System.in.read() >= 0) {}
    }

    private static void await(CountDownLatch ready) {
        ready.countDown();
        try {
            ready.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}

/** Pools and timers without work, a task that waits in its pool, and a thread that takes its work by itself. */
final class Idle {
    private Idle() {}

    public static void main(String[] args) throws Exception {
        ExecutorService fixed = Executors.newFixedThreadPool(2, task -> new Thread(task, "idle-fixed"));
        fixed.submit(() -> {}).get();
        ExecutorService cached = Executors.newCachedThreadPool(task -> new Thread(task, "idle-cached"));
        cached.submit(() -> {}).get();
        ScheduledExecutorService scheduled =
                Executors.newScheduledThreadPool(2, task -> new Thread(task, "idle-scheduled"));
        scheduled.scheduleAtFixedRate(() -> {}, 10, 10, TimeUnit.MILLISECONDS);
        Timer timer = new Timer("idle-timer", true);
        timer.schedule(new TimerTask() {
            @Override
            public void run() {}
        }, 10, 10);
        ForkJoinPool.commonPool().submit(() -> {}).get();
        CountDownLatch latch = new CountDownLatch(1);
        ExecutorService busy = Executors.newFixedThreadPool(1, task -> new Thread(task, "busy-task"));
        busy.execute(() -> await(latch));
        LinkedBlockingQueue<String> queue = new LinkedBlockingQueue<>();
        Thread own = new Thread(() -> take(queue), "busy-queue");
        own.start();
        Thread.sleep(100);
        latch.countDown();
        queue.put("");
        own.join();
        busy.shutdown();
        fixed.shutdown();
        cached.shutdown();
        scheduled.shutdown();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void take(LinkedBlockingQueue<String> queue) {
        try {
            queue.take();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}

/** Threads park and end all the time, also while the JVM goes down, beside many that are parked. */
final class Late {
    private static final int PARKED = 300;
    private static final int STARTERS = 4;

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < STARTERS; i++) {
            start(Late::startOthers);
        }
        for (int i = 0; i < PARKED; i++) {
            start(LockSupport::park);
        }
        Thread.sleep(500);
    }

    private static void startOthers() {
        for (;;) {
            start(() -> LockSupport.parkNanos(1_000_000));
            LockSupport.parkNanos(200_000);
        }
    }

    private static void start(Runnable body) {
        Thread thread = new Thread(body);
        thread.setDaemon(true);
        thread.start();
    }
}
