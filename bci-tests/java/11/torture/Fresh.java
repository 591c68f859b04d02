package torture;

import java.io.IOException;
import java.io.InputStream;

/** Defines a class, and those inside it, anew; asks the application's loader for all others. */
public final class Fresh extends ClassLoader {
    private final String own;

    Fresh(String own) {
        super(Fresh.class.getClassLoader());
        this.own = own;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.equals(own) && !name.startsWith(own + "$")) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            byte[] bytes = read(name);
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    /** The class file of a program. */
    static byte[] read(String name) {
        try (InputStream in = Fresh.class.getClassLoader().getResourceAsStream(name.replace('.', '/') + ".class")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
