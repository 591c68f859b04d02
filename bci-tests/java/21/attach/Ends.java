package attach;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/** For each line on standard input a virtual thread does nothing but end on the only carrier, which waits afterwards. */
public final class Ends {
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
