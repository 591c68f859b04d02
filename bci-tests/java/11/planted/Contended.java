package planted;

import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Locks that cost time, beside what only looks as if it did. Their threads work as long as the program. */
final class Contended {
    /** It is fair, so that no thread waits for ever. */
    private static final ReentrantLock STOCK = new ReentrantLock(true);
    private static final ReentrantReadWriteLock PRICES = new ReentrantReadWriteLock();
    private static final Object STATISTICS = new Object();
    private static int price;
    private static int calls;

    private Contended() {
    }

    /** One of three threads at a time has the lock, beside a pool without work. */
    static void lock() {
        Main.healthy();
        for (int thread = 0; thread < 3; thread++) {
            Main.start("order-" + thread, Contended::reserve);
        }
    }

    private static void reserve() {
        while (true) {
            STOCK.lock();
            try {
                LockSupport.parkNanos(20_000_000);
            } finally {
                STOCK.unlock();
            }
        }
    }

    /** A writer keeps four readers waiting most of the time. Two threads wait for a monitor more often, and hardly ever long. */
    static void readWrite() {
        Main.start("refresh", Contended::refresh);
        for (int thread = 0; thread < 4; thread++) {
            Main.start("reader-" + thread, Contended::read);
        }
        for (int thread = 0; thread < 2; thread++) {
            Main.start("counter-" + thread, Contended::count);
        }
    }

    private static void refresh() {
        while (true) {
            PRICES.writeLock().lock();
            try {
                price++;
                LockSupport.parkNanos(30_000_000);
            } finally {
                PRICES.writeLock().unlock();
            }
            Main.pause(10);
        }
    }

    private static void read() {
        int sum = 0;
        while (sum >= 0) {
            PRICES.readLock().lock();
            try {
                sum = Math.max(sum, price);
            } finally {
                PRICES.readLock().unlock();
            }
            Main.pause(1);
        }
    }

    private static void count() {
        while (true) {
            synchronized (STATISTICS) {
                calls++;
                LockSupport.parkNanos(50_000);
            }
            LockSupport.parkNanos(300_000);
        }
    }
}
