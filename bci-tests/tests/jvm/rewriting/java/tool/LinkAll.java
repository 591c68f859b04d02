import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Loads and links, without initializing, every class named in a pack, and prints one line for each that fails.
 *
 * <p>Linking verifies. What links is {@code Class.getDeclaredConstructors}: HotSpot links the class before it answers.
 */
public final class LinkAll {
    private LinkAll() {}

    /** Arguments: pack, then jars to load from besides the image. */
    public static void main(String[] args) throws Exception {
        URL[] jars = new URL[args.length - 1];
        for (int i = 1; i < args.length; i++) {
            jars[i - 1] = new File(args[i]).toURI().toURL();
        }
        ClassLoader loader = new URLClassLoader(jars, ClassLoader.getSystemClassLoader());
        int linked = 0;
        for (String name : names(args[0])) {
            try {
                Class.forName(name.replace('/', '.'), false, loader).getDeclaredConstructors();
                linked++;
            } catch (VerifyError | ClassFormatError e) {
                System.out.println("broken " + name + " " + firstLine(e));
            } catch (Throwable e) {
                System.out.println("absent " + name + " " + e.getClass().getName());
            }
        }
        System.out.println("linked " + linked);
        try {
            Class<?> probe = Class.forName("java.lang.MartiniProbe");
            for (String field : new String[] {"arrays", "news", "objects"}) {
                System.out.println(field + " " + probe.getField(field).getLong(null));
            }
        } catch (ClassNotFoundException e) {
            System.out.println("no probe");
        }
    }

    private static Set<String> names(String pack) throws Exception {
        Set<String> names = new LinkedHashSet<>();
        try (DataInputStream in =
                new DataInputStream(new BufferedInputStream(Files.newInputStream(Paths.get(pack)), 1 << 20))) {
            while (true) {
                byte[] bytes;
                try {
                    bytes = new byte[in.readInt()];
                } catch (EOFException e) {
                    return names;
                }
                in.readFully(bytes);
                String name = SwapAgent.name(bytes);
                if (!name.endsWith("module-info")) {
                    names.add(name);
                }
            }
        }
    }

    private static String firstLine(Throwable e) {
        return String.valueOf(e.getMessage()).split("\n")[0];
    }
}
