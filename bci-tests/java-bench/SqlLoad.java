import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * A database in memory under the load of a small bank, after the pattern of TPC-B, with reports in between: several clients move
 * money between accounts, each movement a transaction of four statements, and now and then one asks for totals.
 *
 * <p>Arguments: clients, transactions of each. It needs HSQLDB on the class path, and prints sums that do not depend on who was
 * faster.
 */
public final class SqlLoad implements Runnable {
    private static final String URL = "jdbc:hsqldb:mem:bank;hsqldb.tx=mvcc";
    private static final int BRANCHES = 8;
    private static final int TELLERS = 80;
    private static final int ACCOUNTS = 20_000;

    /** Transactions between two reports of a client. */
    private static final int REPORT_EVERY = 500;

    private final int client;
    private final int transactions;
    private long reported;
    private Throwable failure;

    private SqlLoad(int client, int transactions) {
        this.client = client;
        this.transactions = transactions;
    }

    @Override
    public void run() {
        try (Connection connection = DriverManager.getConnection(URL, "SA", "")) {
            connection.setAutoCommit(false);
            work(connection);
        } catch (Throwable t) {
            failure = t;
        }
    }

    private void work(Connection connection) throws SQLException {
        try (PreparedStatement account = connection.prepareStatement("UPDATE account SET cents = cents + ? WHERE id = ?");
                PreparedStatement read = connection.prepareStatement("SELECT cents, filler FROM account WHERE id = ?");
                PreparedStatement teller = connection.prepareStatement("UPDATE teller SET cents = cents + ? WHERE id = ?");
                PreparedStatement history = connection.prepareStatement(
                        "INSERT INTO history (client, teller, account, cents, note) VALUES (?, ?, ?, ?, ?)");
                PreparedStatement report = connection.prepareStatement(
                        "SELECT branch, COUNT(*) AS movements, SUM(ABS(h.cents)) AS turnover FROM history h"
                                + " JOIN teller t ON t.id = h.teller WHERE h.client = ?"
                                + " GROUP BY branch ORDER BY turnover DESC")) {
            long state = client * 7919L + 1;
            for (int i = 1; i <= transactions; i++) {
                state = (state * 6364136223846793005L + 1442695040888963407L);
                int random = (int) (state >>> 33);
                // Each client has its own rows, so that no transaction has to be repeated.
                int which = random % (ACCOUNTS / 16) * 16 + client;
                int by = random % (TELLERS / 16) * 16 + client;
                long cents = random % 1999 - 999;
                account.setLong(1, cents);
                account.setInt(2, which);
                account.executeUpdate();
                read.setInt(1, which);
                try (ResultSet row = read.executeQuery()) {
                    if (!row.next()) throw new IllegalStateException("no account " + which);
                }
                teller.setLong(1, cents);
                teller.setInt(2, by);
                teller.executeUpdate();
                history.setInt(1, client);
                history.setInt(2, by);
                history.setInt(3, which);
                history.setLong(4, cents);
                history.setString(5, "movement " + i + " of client " + client);
                history.executeUpdate();
                connection.commit();
                if (i % REPORT_EVERY == 0) reported += report(connection, report);
            }
        }
    }

    private long report(Connection connection, PreparedStatement report) throws SQLException {
        report.setInt(1, client);
        long movements = 0;
        try (ResultSet rows = report.executeQuery()) {
            while (rows.next()) movements += rows.getLong("movements");
        }
        connection.commit();
        return movements;
    }

    public static void main(String[] args) throws Exception {
        int clients = Integer.parseInt(args[0]);
        int transactions = Integer.parseInt(args[1]);
        if (clients > 16) throw new IllegalArgumentException("at most 16 clients");
        try (Connection connection = DriverManager.getConnection(URL, "SA", "");
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE branch (id INTEGER PRIMARY KEY, name VARCHAR(40))");
            statement.execute("CREATE TABLE teller (id INTEGER PRIMARY KEY, branch INTEGER, cents BIGINT)");
            statement.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, cents BIGINT, filler VARCHAR(90))");
            statement.execute("CREATE TABLE history (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, client INTEGER,"
                    + " teller INTEGER, account INTEGER, cents BIGINT, note VARCHAR(90))");
            statement.execute("CREATE INDEX history_by_client ON history (client)");
            fill(statement, "branch", BRANCHES, "n, 'branch ' || n");
            fill(statement, "teller", TELLERS, "n, MOD(n, " + BRANCHES + "), 0");
            fill(statement, "account", ACCOUNTS, "n, 0, REPEAT('x', 60)");

            SqlLoad[] work = new SqlLoad[clients];
            Thread[] threads = new Thread[clients];
            for (int i = 0; i < clients; i++) {
                work[i] = new SqlLoad(i, transactions);
                threads[i] = new Thread(work[i], "client-" + i);
                threads[i].start();
            }
            long reported = 0;
            for (int i = 0; i < clients; i++) {
                threads[i].join();
                if (work[i].failure != null) throw new IllegalStateException(work[i].failure);
                reported += work[i].reported;
            }
            try (ResultSet row = statement.executeQuery("SELECT (SELECT SUM(cents) FROM account), (SELECT SUM(cents) FROM teller),"
                    + " (SELECT SUM(cents) FROM history), (SELECT COUNT(*) FROM history) FROM (VALUES(0))")) {
                row.next();
                System.out.println("accounts " + row.getLong(1) + ", tellers " + row.getLong(2) + ", history " + row.getLong(3)
                        + " in " + row.getLong(4) + " movements, " + reported + " reported");
            }
        }
    }

    private static void fill(Statement statement, String table, int rows, String values) throws SQLException {
        statement.execute("INSERT INTO " + table + " SELECT " + values + " FROM UNNEST(SEQUENCE_ARRAY(0, " + (rows - 1)
                + ", 1)) AS numbers(n)");
    }
}
