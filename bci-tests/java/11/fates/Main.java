package fates;

import java.io.InputStream;
import java.util.Map;
import java.util.TreeMap;

/**
 * Makes objects at sites whose classes come and go, fail, or never get ready, counts what it has made, and prints that at the
 * end: class and number.
 */
public final class Main {
    private static final int LOADERS = 60;
    private static final int FAILURES = 50;

    private static final Map<String, Integer> MADE = new TreeMap<>();

    static volatile Object sink;

    private Main() {}

    static final class Loader extends ClassLoader {
        Loader() {
            super(Main.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("fates.Plugin")) {
                return super.loadClass(name, resolve);
            }
            Class<?> known = findLoadedClass(name);
            if (known != null) {
                return known;
            }
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static final class Unfit {}

    static final class Broken {
        static final int VALUE = Integer.parseInt("no number");
    }

    /** Ends the program before it is initialised. */
    static final class NeverReady {
        final long value = 1;

        static {
            for (int i = 0; i < 1000; i++) {
                sink = new NeverReady();
            }
            passed(NeverReady.class.getName(), 1000);
            MADE.forEach((name, number) -> System.out.println(name + " " + number));
            System.exit(0);
        }
    }

    /** So many objects of a class were made. */
    public static void passed(String what, int number) {
        MADE.merge(what, number, Integer::sum);
    }

    private static void plugins() throws Exception {
        Runnable[] living = new Runnable[7];
        for (int i = 0; i < LOADERS; i++) {
            Runnable plugin =
                (Runnable) new Loader().loadClass("fates.Plugin").getDeclaredConstructor().newInstance();
            passed("fates.Plugin", 1);
            plugin.run();
            living[i % living.length] = plugin;
            if (i % 5 == 0) {
                System.gc();
                // The agent looks around after each collection.
                Thread.sleep(20);
            }
            for (Runnable other : living) {
                if (other != null && other != plugin) {
                    other.run();
                }
            }
        }
        living = null;
        System.gc();
        System.gc();
    }

    private static Unfit[] array(int length) {
        return new Unfit[length];
    }

    private static void arrays() {
        int failed = 0;
        for (int round = 0; round < 3; round++) {
            // By the third round it is compiled.
            for (int i = 0; i < 30_000; i++) {
                sink = array(i % 5);
            }
            passed("fates.Main$Unfit[]", 30_000);
            for (int length : new int[] {Integer.MAX_VALUE, Integer.MAX_VALUE - 8, -1, Integer.MIN_VALUE, 1 << 30}) {
                try {
                    sink = array(length);
                    passed("fates.Main$Unfit[]", 1);
                } catch (OutOfMemoryError | NegativeArraySizeException e) {
                    failed++;
                }
            }
            sink = array(300_000);
            passed("fates.Main$Unfit[]", 1);
        }
        passed("failed", failed);
    }

    private static void failures() {
        int failed = 0;
        for (int i = 0; i < FAILURES; i++) {
            try {
                sink = new Broken();
            } catch (LinkageError e) {
                failed++;
            }
        }
        passed("failed", failed);
    }

    /** Runs the program. */
    public static void main(String[] args) throws Exception {
        plugins();
        arrays();
        failures();
        Class.forName("fates.Main$NeverReady");
    }
}
