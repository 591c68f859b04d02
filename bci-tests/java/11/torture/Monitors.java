package torture;

import java.util.concurrent.atomic.AtomicLong;

/** Monitors of every kind of object, wanted, waited for, left by exceptions, and given their hash codes meanwhile. */
public final class Monitors {
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
