import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.IntFunction;
import org.mozilla.javascript.Context;

/**
 * A server that answers each request by a script (Rhino), a query (HSQLDB), or by code that is new each time, until its standard input
 * ends. It writes its port into a folder.
 */
public final class Site {
    private static final String SCRIPT =
            "var s = 0, t = []; for (var i = 0; i < 300; i++) { s += i * n % 7; t.push('x' + s); } t.join(',').length + s";

    private Site() {}

    /** Code of which each class loader has its own. */
    public static class Work implements IntFunction<String> {
        @Override
        public String apply(int n) {
            StringBuilder text = new StringBuilder();
            // Enough rounds for C2 to compile it each time.
            for (int i = 0; i < 120_000; i++) text.append(Integer.toString(i * n).hashCode() % 10);
            return text.substring(0, 10);
        }
    }

    private static final class Anew extends ClassLoader {
        @SuppressWarnings("unchecked")
        IntFunction<String> work(byte[] bytes) throws ReflectiveOperationException {
            return (IntFunction<String>) defineClass("Site$Work", bytes, 0, bytes.length).getConstructor().newInstance();
        }
    }

    private static String script(int n) {
        Context context = Context.enter();
        try {
            context.setOptimizationLevel(-1);
            var scope = context.initStandardObjects();
            scope.put("n", scope, n);
            return Context.toString(context.evaluateString(scope, SCRIPT, "page", 1, null));
        } finally {
            Context.exit();
        }
    }

    private static String query(Connection shop, int n) throws Exception {
        String sql = "select o.id, sum(i.price) from orders o join items i on i.o = o.id where o.id < ? group by o.id order by 2 desc";
        try (PreparedStatement ask = shop.prepareStatement(sql)) {
            ask.setInt(1, 20 + n % 20);
            int rows = 0;
            try (ResultSet found = ask.executeQuery()) {
                while (found.next()) rows += found.getInt(2) > 0 ? 1 : 0;
            }
            return "rows " + rows;
        }
    }

    private static Connection shop() throws Exception {
        Connection shop = DriverManager.getConnection("jdbc:hsqldb:mem:shop");
        shop.createStatement().execute("create table orders (id int primary key)");
        shop.createStatement().execute("create table items (o int, price int)");
        for (int o = 0; o < 50; o++) {
            shop.createStatement().execute("insert into orders values " + o);
            for (int i = 0; i < 10; i++) shop.createStatement().execute("insert into items values (" + o + ", " + i + ")");
        }
        return shop;
    }

    private static byte[] own(String name) throws IOException {
        try (InputStream in = Site.class.getResourceAsStream(name)) {
            return in.readAllBytes();
        }
    }

    private static String page(String kind, int n, byte[] code, ThreadLocal<Connection> shops) throws Exception {
        switch (kind) {
            case "script":
                return script(n);
            case "query":
                return query(shops.get(), n);
            default:
                return new Anew().work(code).apply(n);
        }
    }

    public static void main(String[] args) throws Exception {
        String kind = args[0];
        byte[] code = own("Site$Work.class");
        Connection first = kind.equals("query") ? shop() : null;
        ThreadLocal<Connection> shops = ThreadLocal.withInitial(() -> {
            try {
                return first == null ? null : DriverManager.getConnection("jdbc:hsqldb:mem:shop");
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            try {
                String query = exchange.getRequestURI().getQuery();
                int n = Integer.parseInt(query.substring(query.indexOf('=') + 1));
                byte[] page = page(kind, n, code, shops).getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(200, page.length);
                exchange.getResponseBody().write(page);
            } catch (Exception e) {
                e.printStackTrace();
                exchange.sendResponseHeaders(500, -1);
            } finally {
                exchange.close();
            }
        });
        ExecutorService pool = Executors.newFixedThreadPool(4);
        server.setExecutor(pool);
        server.start();
        Files.writeString(new File(args[1], "port").toPath(), Integer.toString(server.getAddress().getPort()));
        System.out.println("ready");
        System.in.transferTo(new ByteArrayOutputStream());
        server.stop(0);
        pool.shutdown();
    }
}
