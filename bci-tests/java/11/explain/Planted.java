package explain;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** Planted: a report that is joined to itself line by line, by a helper, for each request. */
final class Churn {
    private static volatile int length;

    private Churn() {}

    public static void main(String[] args) {
        for (int request = 0; request < 40; request++) {
            length = report(request).length();
        }
        System.out.println("reports of " + length + " characters");
    }

    private static String report(int request) {
        String text = "";
        for (int line = 0; line < 1_000; line++) {
            text = join(text, row(request, line));
        }
        return text;
    }

    private static String row(int request, int line) {
        return "request " + request + ", line " + line + ": all is well\n";
    }

    private static String join(String text, String row) {
        return text.concat(row); // planted: churn
    }
}

/** Planted: sessions that are never taken off a static map. */
final class Leak {
    private static final Map<Integer, Session> SESSIONS = new HashMap<>();
    private static final int DAYS = 8;
    private static final int SESSIONS_A_DAY = 1_500;

    private Leak() {}

    public static void main(String[] args) {
        long sum = 0;
        for (int day = 0; day < DAYS; day++) {
            for (int number = 0; number < SESSIONS_A_DAY; number++) {
                sum += login(day * SESSIONS_A_DAY + number);
            }
            System.gc();
        }
        System.out.println(SESSIONS.size() + " sessions, " + sum);
    }

    private static int login(int user) {
        Session session = new Session(user); // planted: leak
        SESSIONS.put(user, session);
        return new StringBuilder("user ").append(user).toString().length();
    }

    private static final class Session {
        private final long[] visits = new long[32];

        Session(int user) {
            visits[0] = user;
        }
    }
}

/** Planted: eight threads that all want one lock, whose owner takes its time. */
final class Lock {
    private static final int THREADS = 8;
    private static final int TURNS = 12;

    private Lock() {}

    public static void main(String[] args) throws InterruptedException {
        Ledger ledger = new Ledger();
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> work(ledger), "teller-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(ledger.entries + " entries");
    }

    private static void work(Ledger ledger) {
        for (int turn = 0; turn < TURNS; turn++) {
            ledger.enter(turn);
        }
    }

    private static final class Ledger {
        private int entries;

        synchronized void enter(int amount) {
            LockSupport.parkNanos(5_000_000 + amount); // planted: lock
            entries++;
        }
    }
}
