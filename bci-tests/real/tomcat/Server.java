import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.valves.AccessLogValve;

/**
 * Tomcat with a small shop: {@code Server FOLDER}. Pages come from a cache that a monitor guards, as such caches do; what is not
 * in it is rendered with one of four connections to a store. Every request goes into an access log. Writes its port into the
 * file {@code port} and prints {@code ready}; at the next line of input it prints how often the JVM says that each of
 * Tomcat's threads was blocked, and stops.
 */
public final class Server {
    /** The pages asked for last. */
    private static final class PageCache {
        private final Map<Integer, String> pages = new LinkedHashMap<>(128, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Integer, String> eldest) {
                return size() > 64;
            }
        };

        synchronized String get(int product) {
            return pages.get(product);
        }

        synchronized void put(int product, String page) {
            pages.put(product, page);
        }

        /** For the start page: the products in the cache, all of them, as they are at one moment. */
        synchronized int newest() {
            int newest = 0;
            for (Map.Entry<Integer, String> entry : pages.entrySet()) {
                newest = Math.max(newest, entry.getKey() + entry.getValue().length());
            }
            return newest;
        }
    }

    /** A connection to the store. */
    private static final class Connection {
        String query(int product) {
            StringBuilder rows = new StringBuilder();
            for (int row = 0; row < 40; row++) {
                rows.append("<tr><td>").append(product).append("</td><td>").append(Integer.toHexString(product * 31 + row));
                rows.append("</td></tr>\n");
            }
            return rows.toString();
        }
    }

    private static final class Shop extends HttpServlet {
        private static final long serialVersionUID = 1;

        private final transient PageCache cache = new PageCache();
        private final transient ArrayBlockingQueue<Connection> connections = new ArrayBlockingQueue<>(4);

        Shop() {
            for (int i = 0; i < 4; i++) {
                connections.add(new Connection());
            }
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            int product = Integer.parseInt(request.getParameter("product"));
            String page = cache.get(product);
            if (page == null) {
                page = render(product);
                cache.put(product, page);
            }
            if (cache.newest() < 0) {
                throw new IllegalStateException();
            }
            byte[] body = page.getBytes(StandardCharsets.US_ASCII);
            response.setContentType("text/html");
            response.setContentLength(body.length);
            response.getOutputStream().write(body);
        }

        private String render(int product) throws IOException {
            try {
                Connection connection = connections.take();
                try {
                    return "<html><table>\n" + connection.query(product) + "</table></html>\n";
                } finally {
                    connections.add(connection);
                }
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }
    }

    private Server() {}

    /** While nobody asks for pages. */
    private static void count() throws InterruptedException {
        Map<String, Long> counts;
        long now;
        // Connections that the clients have closed keep threads busy for a while.
        do {
            counts = blocked();
            now = System.currentTimeMillis();
            Thread.sleep(200);
        } while (!blocked().equals(counts));
        counts.forEach((thread, times) -> System.out.println("blocked " + times + " " + thread));
        System.out.println("at " + now);
        System.out.println("counted");
    }

    /** How often each of Tomcat's threads was blocked. */
    private static Map<String, Long> blocked() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        Map<String, Long> counts = new LinkedHashMap<>();
        for (ThreadInfo info : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (info != null && info.getThreadName().contains("-exec-")) {
                counts.put(info.getThreadName(), info.getBlockedCount());
            }
        }
        return counts;
    }

    /** Starts it in a folder. */
    static Tomcat start(Path folder) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.toString());
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        tomcat.getConnector().setProperty("maxThreads", "32");
        tomcat.getConnector().setProperty("minSpareThreads", "32");
        tomcat.getConnector().setProperty("maxKeepAliveRequests", "-1");
        Files.createDirectories(folder.resolve("webapps"));
        Context context = tomcat.addContext("", new File(folder.toString()).getAbsolutePath());
        AccessLogValve log = new AccessLogValve();
        log.setPattern("common");
        log.setDirectory("logs");
        context.getPipeline().addValve(log);
        Tomcat.addServlet(context, "shop", new Shop());
        context.addServletMappingDecoded("/", "shop");
        tomcat.start();
        return tomcat;
    }

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        Tomcat tomcat = start(folder);
        Files.writeString(folder.resolve("port"), Integer.toString(tomcat.getConnector().getLocalPort()));
        System.out.println("ready");
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        while (asked.readLine() != null) {
            count();
        }
        tomcat.stop();
        tomcat.destroy();
        System.out.println("stopped");
    }
}
