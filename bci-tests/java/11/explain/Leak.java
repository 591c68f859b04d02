package explain;

import java.util.HashMap;
import java.util.Map;

/** Planted: sessions that are never taken off a static map. */
public final class Leak {
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
