package loaders;

/** A loader that is loaded by a strict one: asks it for everything but one class, and has no other names. */
public final class Inner extends ClassLoader {
    private final byte[] code;
    private Class<?> own;

    public Inner(ClassLoader parent, byte[] code) {
        super(parent);
        this.code = code;
    }

    @Override
    public Class<?> loadClass(String name) throws ClassNotFoundException {
        if (!name.equals("loaders.Plugin")) return getParent().loadClass(name);
        if (own == null) own = defineClass(name, code, 0, code.length);
        return own;
    }
}
