package torture;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Everything that parks, with interrupts and time-outs in between. */
public final class Parks {
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
