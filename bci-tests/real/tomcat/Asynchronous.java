import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/**
 * Tomcat with servlets that hand requests over, and those who ask it, in one JVM: {@code Asynchronous REQUESTS}. Of four requests one is
 * answered in the call, one by another thread, one is dispatched once more, and one may not be handed over. Prints how many calls there
 * were, how many of them handed the request over, and how many were dispatched.
 */
public final class Asynchronous {
    private static final String[] WAYS = {"handed?how=call", "handed?how=thread", "handed?how=dispatch", "plain?how=thread"};
    private static final int CLIENTS = 4;
    private static final ExecutorService WORKERS = Executors.newFixedThreadPool(2);
    private static final AtomicInteger CALLS = new AtomicInteger();
    private static final AtomicInteger HANDED = new AtomicInteger();
    private static final AtomicInteger DISPATCHED = new AtomicInteger();

    private static final class Handed extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                DISPATCHED.incrementAndGet();
                response.getWriter().write("dispatched");
                return;
            }
            CALLS.incrementAndGet();
            String how = request.getParameter("how");
            if (how.equals("call")) {
                response.getWriter().write("called");
                return;
            }
            AsyncContext context;
            try {
                context = request.startAsync();
            } catch (IllegalStateException e) {
                response.getWriter().write("not supported");
                return;
            }
            HANDED.incrementAndGet();
            if (how.equals("dispatch")) {
                context.dispatch();
            } else {
                WORKERS.execute(() -> answer(context));
            }
        }

        private static void answer(AsyncContext context) {
            try {
                context.getResponse().getWriter().write("by another thread");
            } catch (IOException e) {
                System.err.println(e);
            }
            context.complete();
        }
    }

    private Asynchronous() {}

    public static void main(String[] args) throws Exception {
        int requests = Integer.parseInt(args[0]);
        // Each request that may not be handed over would be a warning.
        Logger log = Logger.getLogger("org.apache");
        log.setLevel(Level.OFF);
        Path folder = Files.createTempDirectory("asynchronous");
        Files.createDirectories(folder.resolve("webapps"));
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.toString());
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        ExecutorService pool = Executors.newFixedThreadPool(CLIENTS);
        tomcat.getConnector().getProtocolHandler().setExecutor(pool);
        Context context = tomcat.addContext("", folder.toString());
        Tomcat.addServlet(context, "handed", new Handed()).setAsyncSupported(true);
        Tomcat.addServlet(context, "plain", new Handed()).setAsyncSupported(false);
        context.addServletMappingDecoded("/handed", "handed");
        context.addServletMappingDecoded("/plain", "plain");
        tomcat.start();
        int port = tomcat.getConnector().getLocalPort();
        Thread[] clients = new Thread[CLIENTS];
        for (int client = 0; client < CLIENTS; client++) {
            clients[client] = new Thread(() -> ask(port, requests / CLIENTS));
            clients[client].start();
        }
        for (Thread client : clients) {
            client.join();
        }
        tomcat.stop();
        tomcat.destroy();
        for (ExecutorService threads : List.of(pool, WORKERS)) {
            threads.shutdown();
            if (!threads.awaitTermination(60, TimeUnit.SECONDS)) {
                throw new IllegalStateException("a request does not end");
            }
        }
        List<Path> left = Files.walk(folder).sorted(Comparator.reverseOrder()).collect(Collectors.toList());
        for (Path path : left) {
            Files.delete(path);
        }
        System.out.println("calls " + CALLS + " handed " + HANDED + " dispatched " + DISPATCHED);
    }

    private static void ask(int port, int requests) {
        try {
            for (int request = 0; request < requests; request++) {
                URL url = new URL("http://127.0.0.1:" + port + "/" + WAYS[request % WAYS.length]);
                HttpURLConnection connection = (HttpURLConnection) url.openConnection();
                connection.setRequestProperty("Connection", "close");
                if (connection.getResponseCode() != 200) {
                    System.err.println(url + ": " + connection.getResponseCode());
                }
                connection.getInputStream().readAllBytes();
            }
        } catch (IOException e) {
            System.err.println(e);
        }
    }
}
