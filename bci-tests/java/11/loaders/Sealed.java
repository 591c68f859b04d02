package loaders;

import java.io.IOException;
import java.io.InputStream;
import java.util.Set;

/** A system class loader that knows a few names, and ends the JVM when it is asked for any other. */
public final class Sealed extends ClassLoader {
    private static final Set<String> KNOWN =
            Set.of("java.lang.Object", "java.lang.String", "java.lang.System", "java.io.PrintStream", "java.io.InputStream",
                    "java.io.IOException", "java.lang.Exception", "java.lang.Throwable");

    public Sealed(ClassLoader parent) {
        super(null);
    }

    @Override
    public Class<?> loadClass(String name) throws ClassNotFoundException {
        System.out.println("asked for " + name);
        if (KNOWN.contains(name)) {
            return Class.forName(name, false, null);
        }
        if (!name.startsWith("loaders.Sealed")) {
            System.out.println("asked for what is not known");
            Runtime.getRuntime().halt(77);
        }
        Class<?> loaded = findLoadedClass(name);
        if (loaded != null) {
            return loaded;
        }
        try (InputStream in = Sealed.class.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
            byte[] bytes = in.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}

/** What it loads: waits for a byte, and makes arrays. */
final class SealedMain {
    private static volatile Object sink;

    private SealedMain() {}

    public static void main(String[] args) throws IOException {
        System.out.println("ready");
        do {
            for (int i = 0; i < 1000; i++) sink = new long[4];
            System.out.println("made");
        } while (System.in.read() != 'q');
    }
}
