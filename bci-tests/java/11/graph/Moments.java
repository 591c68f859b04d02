package graph;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Comes to the moments at which a heap may be dumped, whenever it is asked to. */
public final class Moments {
    static final class Held {
        final byte[] bytes = new byte[100_000];
    }

    static int collections;
    static List<Held> held = new ArrayList<>();
    static List<Object> loaded = new ArrayList<>();

    private Moments() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("collect")) {
                collections++;
                System.gc();
            } else if (line.equals("load")) {
                CountDownLatch begun = new CountDownLatch(100);
                Thread loading = new Thread(() -> load(begun));
                loading.setDaemon(true);
                loading.start();
                begun.await();
            } else {
                fill();
            }
            System.out.println(line + " done");
        }
    }

    /** Loads one class again and again, and makes an object of the class of its arrays. */
    private static void load(CountDownLatch begun) {
        try (InputStream in = Moments.class.getResourceAsStream("Moments$Held.class")) {
            byte[] file = in.readAllBytes();
            for (int i = 0; i < 5_000; i++) {
                Class<?> held = new ClassLoader(null) {
                    Class<?> define() {
                        return defineClass(Held.class.getName(), file, 0, file.length);
                    }
                }.define();
                loaded.add(Array.newInstance(held, 1));
                begun.countDown();
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
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
