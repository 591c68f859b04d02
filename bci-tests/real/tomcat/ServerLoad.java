import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.catalina.startup.Tomcat;

/**
 * The shop and those who ask it in one JVM: {@code ServerLoad CLIENTS REQUESTS}, where each client asks so often on a connection of its
 * own. Prints how many answers there were and how many bytes they had, which are always the same.
 */
public final class ServerLoad {
    private static final int PRODUCTS = 100;

    private ServerLoad() {}

    public static void main(String[] args) throws Exception {
        int clients = Integer.parseInt(args[0]);
        int requests = Integer.parseInt(args[1]);
        Path folder = Files.createTempDirectory("shop");
        Tomcat tomcat = Server.start(folder);
        int port = tomcat.getConnector().getLocalPort();
        long[] bytes = new long[clients];
        Thread[] threads = new Thread[clients];
        for (int client = 0; client < clients; client++) {
            int own = client;
            threads[client] = new Thread(() -> bytes[own] = ask(port, own, requests), "client-" + client);
            threads[client].start();
        }
        long sum = 0;
        for (int client = 0; client < clients; client++) {
            threads[client].join();
            sum += bytes[client];
        }
        tomcat.stop();
        tomcat.destroy();
        List<Path> left = Files.walk(folder).sorted(Comparator.reverseOrder()).collect(Collectors.toList());
        for (Path path : left) {
            Files.delete(path);
        }
        System.out.println((long) clients * requests + " answers, " + sum + " bytes");
    }

    /** The bytes of all pages that one client gets; -1 if a request fails. */
    private static long ask(int port, int client, int requests) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(30_000);
            InputStream in = new BufferedInputStream(socket.getInputStream());
            int next = client;
            long bytes = 0;
            for (int request = 0; request < requests; request++) {
                next = next * 1_664_525 + 1_013_904_223;
                int product = (next >>> 16) % PRODUCTS;
                String text = "GET /?product=" + product + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
                socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
                bytes += answer(in);
            }
            return bytes;
        } catch (IOException e) {
            System.err.println(e);
            return -1;
        }
    }

    /** Reads one answer and returns the length of its page. */
    private static int answer(InputStream in) throws IOException {
        if (!line(in).startsWith("http/1.1 200")) {
            throw new IOException("a request failed");
        }
        int length = 0;
        for (String header = line(in); !header.isEmpty(); header = line(in)) {
            if (header.startsWith("content-length:")) {
                length = Integer.parseInt(header.substring(header.indexOf(':') + 1).trim());
            }
        }
        if (in.readNBytes(length).length < length) {
            throw new EOFException();
        }
        return length;
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException();
            }
            if (next != '\r') {
                line.append((char) next);
            }
        }
        return line.toString().toLowerCase(Locale.ROOT);
    }
}
