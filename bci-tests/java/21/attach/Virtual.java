package attach;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * A virtual thread runs on the only carrier, and does not leave it until there is a line on standard input. Then it ends, and others come
 * and go on the same carrier.
 */
final class Carriers {
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

/** For each line on standard input a virtual thread does nothing but end on the only carrier, which waits afterwards. */
final class Ends {
    private Ends() {}

    public static void main(String[] args) throws Exception {
        // Whatever else has to be started for it.
        Thread.ofVirtual().start(() -> {}).join();
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            Thread.ofVirtual().start(() -> {}).join();
            // The carrier is done with it.
            Thread.sleep(100);
            System.out.println("ended");
        }
        System.out.println("right");
    }
}
