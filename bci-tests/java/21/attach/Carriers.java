package attach;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * A virtual thread runs on the only carrier, and does not leave it until there is a line on standard input. Then it ends, and others come
 * and go on the same carrier.
 */
public final class Carriers {
    private static final int THREADS = 50;

    private static volatile boolean isReleased;
    private static volatile Object sink;

    private Carriers() {}

    public static void main(String[] args) throws Exception {
        Thread first = Thread.ofVirtual().name("first").start(() -> {
            while (!isReleased) sink = new Object();
        });
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            isReleased = true;
            first.join();
            for (int i = 0; i < THREADS; i++) {
                Thread.ofVirtual().name("later-" + i).start(() -> sink = new Object()).join();
            }
            System.out.println("released");
        }
        System.out.println("right");
    }
}
