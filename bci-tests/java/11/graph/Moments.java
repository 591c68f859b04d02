package graph;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/** Comes to the moments at which a heap may be dumped, whenever it is told to. */
public final class Moments {
    static final class Held {
        final byte[] bytes = new byte[100_000];
    }

    static int collections;
    static List<Held> held = new ArrayList<>();

    private Moments() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("collect")) {
                collections++;
                System.gc();
            } else {
                fill();
            }
            System.out.println(line + " done");
        }
    }

    private static void fill() {
        try {
            while (true) {
                held.add(new Held());
            }
        } catch (OutOfMemoryError e) {
            held = new ArrayList<>();
        }
    }
}
