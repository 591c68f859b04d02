package explain;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

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

/** What programs do over and over, for so much of a processor's time that samples tell, however busy the machine is. */
final class Busy {
    private static final long NANOS = 2_000_000_000L;

    private Busy() {}

    /** Work that is repeated. */
    interface Work {
        int once();
    }

    static void with(Work work) {
        ThreadMXBean clocks = ManagementFactory.getThreadMXBean();
        int sum = 0;
        while (clocks.getCurrentThreadCpuTime() < NANOS) {
            for (int time = 0; time < 100; time++) {
                sum += work.once();
            }
        }
        System.out.println(sum == Integer.MIN_VALUE ? "odd" : "done");
    }
}

/** Planted: an expression that tries every way to divide an address that does not match. */
final class Regex {
    private static final Pattern ADDRESS = Pattern.compile("(\\w+\\.?)+@(\\w+\\.?)+");

    private Regex() {}

    public static void main(String[] args) {
        String text = "a".repeat(14);
        Busy.with(() -> isAddress(text) ? 1 : 0);
    }

    private static boolean isAddress(String text) {
        return ADDRESS.matcher(text).matches(); // planted: regex
    }
}

/** Planted: keys that all have one hash code, and no order. */
final class Collisions {
    private static final Map<Key, Integer> PRICES = new HashMap<>();

    private Collisions() {}

    public static void main(String[] args) {
        List<Key> keys = new ArrayList<>();
        for (int number = 0; number < 100; number++) {
            keys.add(new Key(number));
            PRICES.put(keys.get(number), number);
        }
        Busy.with(() -> keys.stream().mapToInt(Collisions::price).sum());
    }

    private static int price(Key key) {
        return PRICES.get(new Key(key.number)); // planted: collisions
    }

    private static final class Key {
        private final int number;

        Key(int number) {
            this.number = number;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Key && ((Key) other).number == number;
        }

        @Override
        public int hashCode() {
            return 42;
        }
    }
}

/** Planted: a list of words that is made anew, through a stream, only to be measured. */
final class Streams {
    private Streams() {}

    public static void main(String[] args) {
        List<String> words = List.of("all", "work", "and", "no", "play", "makes", "Jack", "a", "dull", "boy");
        Busy.with(() -> longest(words));
    }

    private static int longest(List<String> words) {
        return words.stream().map(word -> word.concat("!")).sorted().collect(Collectors.toList()).get(0).length(); // planted: streams
    }
}
