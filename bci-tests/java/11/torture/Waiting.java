package torture;

import java.lang.reflect.Method;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Monitors of every kind of object, wanted, waited for, left by exceptions, and given their hash codes meanwhile. */
final class Monitors {
    private static final int THREADS = 6;

    private Monitors() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 1_500);
        Object[] locks = {
            new Object(), 1_000, "text", Monitors.class, new int[3], new Object[2], 'x', new Known(0), Thread.currentThread(),
        };
        AtomicLong checksum = new AtomicLong();
        long[] counted = new long[locks.length];
        Say.together(THREADS, number -> {
            for (int round = 0; round < rounds; round++) {
                int index = (round + number) % locks.length;
                Object lock = locks[index];
                if (round % 7 == 0) {
                    System.identityHashCode(lock);
                }
                synchronized (lock) {
                    counted[index]++;
                    twice(lock, counted, index);
                    if (round % 5 == 0) {
                        lock.notify();
                    }
                    if (round % 50 == 0) {
                        lock.wait(1);
                    }
                    if (round % 97 == 0) {
                        lock.notifyAll();
                    }
                    if (round % 31 == 0) {
                        Thread.currentThread().interrupt();
                        try {
                            lock.wait();
                        } catch (InterruptedException e) {
                            checksum.incrementAndGet();
                        }
                    }
                }
                try {
                    synchronized (new Known(round)) {
                        thrown(lock);
                    }
                } catch (IllegalStateException e) {
                    checksum.incrementAndGet();
                }
            }
        });
        for (long count : counted) {
            checksum.addAndGet(checksum.get() * 31 + count);
        }
        Say.end(checksum.get(), 1 + rounds * (long) THREADS);
    }

    private static void twice(Object lock, long[] counted, int index) {
        synchronized (lock) {
            counted[index]++;
        }
    }

    private static void thrown(Object lock) {
        synchronized (lock) {
            throw new IllegalStateException();
        }
    }
}

/** Everything that parks, with interrupts and time-outs in between. */
final class Parks {
    private static final int THREADS = 6;
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Condition TURN = LOCK.newCondition();
    private static final ReentrantReadWriteLock READERS = new ReentrantReadWriteLock();
    private static final Semaphore PERMITS = new Semaphore(2);

    private Parks() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 150);
        AtomicLong checksum = new AtomicLong();
        ArrayBlockingQueue<Known> queue = new ArrayBlockingQueue<>(3);
        SynchronousQueue<Known> handover = new SynchronousQueue<>();
        CyclicBarrier barrier = new CyclicBarrier(THREADS);
        Say.together(THREADS, number -> {
            for (int round = 0; round < rounds; round++) {
                LOCK.lock();
                try {
                    checksum.incrementAndGet();
                    TURN.signal();
                    TURN.awaitNanos(100_000);
                } finally {
                    LOCK.unlock();
                }
                PERMITS.acquireUninterruptibly();
                LockSupport.parkNanos(round % 5 * 1_000);
                PERMITS.release();
                if (round % 4 == number % 4) {
                    READERS.writeLock().lock();
                    READERS.writeLock().unlock();
                } else {
                    READERS.readLock().lock();
                    READERS.readLock().unlock();
                }
                if (number % 2 == 0) {
                    queue.put(new Known(round));
                    handover.offer(new Known(round), 50, TimeUnit.MICROSECONDS);
                } else {
                    checksum.addAndGet(queue.take().value);
                    handover.poll(50, TimeUnit.MICROSECONDS);
                }
                Thread.currentThread().interrupt();
                LockSupport.park();
                if (Thread.interrupted() && round % 10 == 0) {
                    barrier.await();
                }
            }
        });
        Say.end(checksum.get(), rounds * (long) THREADS);
    }
}

/** Threads that are stopped by {@code Thread.suspend} wherever they are; until JDK 19. */
final class Suspend {
    private Suspend() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 60);
        Method suspend = Thread.class.getMethod("suspend");
        Method resume = Thread.class.getMethod("resume");
        AtomicBoolean done = new AtomicBoolean();
        Thread[] workers = new Thread[3];
        for (int i = 0; i < workers.length; i++) {
            Object own = new Object();
            workers[i] = new Thread(() -> {
                for (int n = 0; !done.get(); n++) {
                    synchronized (own) {
                        Known.sink = new Known(n);
                    }
                    if (n % 256 == 0) {
                        // A trace of all that they could make would be endless.
                        LockSupport.parkNanos(100_000);
                    }
                }
            }, "worker-" + i);
            workers[i].start();
        }
        // Loaded before anybody is stopped who might hold a lock of the class library.
        suspend.invoke(workers[0]);
        resume.invoke(workers[0]);
        Thread.sleep(10);
        for (int round = 0; round < rounds; round++) {
            for (Thread worker : workers) {
                suspend.invoke(worker);
            }
            for (int i = 0; i < 200; i++) {
                Known.sink = new Known(i);
            }
            if (round % 10 == 0) {
                System.gc();
            }
            Thread.sleep(2);
            for (Thread worker : workers) {
                resume.invoke(worker);
            }
        }
        done.set(true);
        for (Thread worker : workers) {
            worker.join();
        }
        Say.line("suspended " + rounds);
    }
}

/** Threads that live for a moment, some at the same time and many one after the other. */
final class Threads {
    private static final Object LOCK = new Object();
    private static long checksum;

    private Threads() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int alone = Say.scaled(args, 3_000);
        int crowds = Say.scaled(args, 30);
        for (int i = 0; i < alone; i++) {
            Thread thread = new Thread(Threads::work, "alone-" + i % 7);
            thread.start();
            thread.join();
        }
        AtomicLong ended = new AtomicLong();
        for (int crowd = 0; crowd < crowds; crowd++) {
            Say.together(24, number -> {
                work();
                ended.incrementAndGet();
            });
        }
        Say.end(checksum, alone + ended.get());
    }

    private static void work() {
        Known made = new Known(1);
        Known.sink = made;
        synchronized (LOCK) {
            checksum = checksum * 31 + made.value;
        }
    }
}

/** Stacks that are as deep as they can be, with an error at the end of each, or with allocations all the way down. */
final class Deep {
    private Deep() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 15);
        AtomicLong checksum = new AtomicLong();
        // What is needed behind an error is there before it.
        byte[] bad = Say.bytes("an error of another class");
        descend(10);
        Say.together(3, number -> {
            for (int round = 0; round < rounds; round++) {
                checksum.addAndGet(descend(300));
                try {
                    int depth = number == 0 ? forever(0) : number == 1 ? wide(1, 2, 3, 4, 5, 6) : boxing(0);
                    checksum.addAndGet(depth);
                } catch (StackOverflowError e) {
                    checksum.addAndGet(31);
                } catch (VirtualMachineError e) {
                    Say.bytes(bad);
                }
                checksum.addAndGet(finals(0) > 0 ? 1 : 0);
            }
        });
        Say.end(checksum.get(), 11 + rounds * 3L * 301);
    }

    private static int descend(int depth) {
        Known.sink = new Known(depth);
        return depth == 0 ? 1 : 1 + descend(depth - 1);
    }

    private static int forever(int depth) {
        return forever(depth + 1) + 1;
    }

    private static int wide(long a, long b, long c, long d, double e, double f) {
        Object[] kept = {a, b};
        return wide(b, c, d, a, f, e) + kept.length;
    }

    private static int boxing(Integer depth) {
        synchronized (Deep.class) {
            return boxing(new Integer(depth + 1000)) + new int[] {depth}.length;
        }
    }

    private static int finals(int depth) {
        try {
            return finals(depth + 1);
        } catch (StackOverflowError e) {
            return depth;
        }
    }
}
