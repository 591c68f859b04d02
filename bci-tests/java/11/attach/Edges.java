package attach;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;

/**
 * Loads the class by which the library notes that one module reads another, as soon as a thread of the agent's is there that rewrites
 * classes; each line on its standard input has it make a proxy in a module of its own, which needs that class.
 */
public final class Edges {
    private static volatile boolean isDone;

    private Edges() {}

    public static void main(String[] args) throws Exception {
        Thread watcher = new Thread(Edges::watch);
        watcher.start();
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            watcher.join();
            Proxy.newProxyInstance(
                    new ClassLoader() {}, new Class<?>[] {Runnable.class}, (self, method, given) -> null);
            System.out.println("made");
        }
        isDone = true;
        watcher.join();
        System.out.println("right");
    }

    private static void watch() {
        try {
            while (!isDone && !isAgentThere()) Thread.onSpinWait();
            Class.forName("java.lang.WeakPairMap$Pair$Weak", false, null);
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isAgentThere() throws IOException {
        for (File task : new File("/proc/self/task").listFiles()) {
            try (FileInputStream in = new FileInputStream(new File(task, "comm"))) {
                byte[] name = new byte[16];
                int length = in.read(name);
                if (new String(name, 0, Math.max(0, length), StandardCharsets.US_ASCII).startsWith("Martini linked")) return true;
            } catch (FileNotFoundException e) {
                // It has ended.
            }
        }
        return false;
    }
}
