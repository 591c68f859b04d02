package recompiled;

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.util.Random;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Has code compiled and thrown away without end, so that new code comes to lie where other code was, and allocates in all of it:
 * whoever remembers the addresses of code takes one for the other.
 */
public final class Main {
    private static final String[] NAMES = {"Small", "Middle", "Large", "Other"};
    private static final int LIVING = 40;

    /** Where everything goes; public, since the classes of other loaders are in packages of their own. */
    public static volatile Object sink;

    private Main() {}

    /** A new class of that code, which nothing refers to afterwards. */
    static Runnable load(byte[] code) throws ReflectiveOperationException {
        Class<?> loaded = new ClassLoader(Main.class.getClassLoader()) {
            Class<?> define() {
                return defineClass(null, code, 0, code.length);
            }
        }.define();
        return (Runnable) loaded.getDeclaredConstructor().newInstance();
    }

    /** Runs it below so many frames of code that stays. */
    static void below(int frames, Runnable code) {
        if (frames > 0) {
            below(frames - 1, code);
        } else {
            code.run();
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        byte[][] codes = new byte[NAMES.length][];
        for (int i = 0; i < codes.length; i++) {
            try (InputStream file = Main.class.getResourceAsStream(NAMES[i] + ".class")) {
                codes[i] = file.readAllBytes();
            }
        }
        Random random = new Random(5);
        Runnable[] living = new Runnable[LIVING];
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < LIVING; i++) {
                if (living[i] == null || random.nextInt(3) > 0) {
                    living[i] = load(codes[random.nextInt(codes.length)]);
                }
            }
            System.gc();
            for (int i = 0; i < 30; i++) {
                for (Runnable code : living) {
                    below(8, code);
                }
            }
        }
        System.out.println("done");
    }
}

/**
 * Has classes unloaded by collections that the JVM reports to nobody, those in front of a histogram of classes, so that new classes come
 * to lie where others were.
 */
final class Unloaded {
    private Unloaded() {}

    public static void main(String[] args) throws Exception {
        byte[] code;
        try (InputStream in = Unloaded.class.getResourceAsStream("Small.class")) {
            code = in.readAllBytes();
        }
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
        for (int round = Integer.parseInt(args[0]); round > 0; round--) {
            for (int i = 0; i < 20; i++) {
                Runnable loaded = Main.load(code);
                for (int run = 0; run < 3; run++) loaded.run();
            }
            server.invoke(commands, "gcClassHistogram", new Object[] {null}, new String[] {String[].class.getName()});
        }
    }
}
