package loaders;

/** A loader that is defined as a hidden class, which no agent can change once it is there. */
public final class Unreached extends ClassLoader {
    public Unreached() {
        super(null);
    }

    @Override
    public Class<?> loadClass(String name) throws ClassNotFoundException {
        System.out.println("unreached " + name);
        if (name.equals("java.lang.Object")) return Object.class;
        if (!name.equals("loaders.Left")) throw new ClassNotFoundException(name);
        byte[] code = Main.code(name);
        return defineClass(name, code, 0, code.length);
    }
}
