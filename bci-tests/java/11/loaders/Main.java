package loaders;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * Plugins in loaders that know a list of classes and no others, each strict in its own way. Prints what each loader was asked. Then, for
 * each number on a line of its standard input, has each plugin do so many rounds, while other threads hold the locks of all loaders.
 */
public final class Main {
    static final Set<String> ALLOWED =
            Set.of("java.lang.Object", "java.lang.ClassLoader", "java.lang.String", "java.lang.Class",
                    "java.lang.invoke.MethodHandles", "java.lang.invoke.MethodHandles$Lookup");

    private Main() {}

    /** What a strict loader does with a name that it does not know. */
    interface Refusal {
        Class<?> refuse(String name) throws ClassNotFoundException;
    }

    static byte[] code(String name) {
        try (InputStream in = Main.class.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Defines these classes itself, gives the allowed ones to the boot loader, and refuses all others. */
    static class Strict extends ClassLoader {
        final List<String> asked = new ArrayList<>();
        final Set<String> defined;
        final Refusal refusal;

        Strict(Refusal refusal, String... defined) {
            super(null);
            this.defined = Set.of(defined);
            this.refusal = refusal;
        }

        Class<?> find(String name) throws ClassNotFoundException {
            synchronized (asked) {
                asked.add(name);
            }
            if (ALLOWED.contains(name)) return Class.forName(name, false, null);
            if (!defined.contains(name)) return refusal.refuse(name);
            Class<?> known = findLoadedClass(name);
            if (known != null) return known;
            byte[] code = code(name);
            return defineClass(name, code, 0, code.length);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            return find(name);
        }
    }

    /** Overrides the method that the JVM calls. */
    static class One extends Strict {
        One(Refusal refusal, String... defined) {
            super(refusal, defined);
        }

        @Override
        public Class<?> loadClass(String name) throws ClassNotFoundException {
            // Its code begins where a loop does.
            while (!asked.isEmpty() && asked.get(0) == null) name = "none";
            return find(name);
        }
    }

    /** The same, locked. */
    static final class Locked extends Strict {
        Locked(Refusal refusal, String... defined) {
            super(refusal, defined);
        }

        @Override
        public synchronized Class<?> loadClass(String name) throws ClassNotFoundException {
            return find(name);
        }
    }

    /** The JVM does not lock it. */
    static final class Parallel extends Strict {
        static {
            registerAsParallelCapable();
        }

        Parallel(Refusal refusal, String... defined) {
            super(refusal, defined);
        }
    }

    /** Refuses nothing itself: its parent does. */
    static final class Below extends ClassLoader {
        Below(ClassLoader parent) {
            super(parent);
        }

        Class<?> define(String name) {
            byte[] code = code(name);
            return defineClass(name, code, 0, code.length);
        }
    }

    private static Class<?> notFound(String name) throws ClassNotFoundException {
        throw new ClassNotFoundException(name + " is not allowed");
    }

    private static Class<?> error(String name) {
        throw new AssertionError(name + " is not allowed");
    }

    private static Class<?> hang(String name) {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return null;
    }

    public static Object lookup() {
        return MethodHandles.lookup();
    }

    private static final String PLUGIN = "loaders.Plugin";

    /** A class beside a plugin that is found by no name, by the way this JDK has. */
    private static Class<?> hidden(Class<?> host, String name) throws Exception {
        byte[] code = code(name);
        Object lookup = host.getMethod("lookup").invoke(null);
        for (Method method : lookup.getClass().getMethods()) {
            if (method.getName().equals("defineHiddenClass")) {
                Object options = Array.newInstance(Class.forName(lookup.getClass().getName() + "$ClassOption"), 0);
                return ((MethodHandles.Lookup) method.invoke(lookup, code, true, options)).lookupClass();
            }
        }
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field field = unsafe.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        return (Class<?>) unsafe.getMethod("defineAnonymousClass", Class.class, byte[].class, Object[].class)
                .invoke(field.get(null), host, code, null);
    }

    public static void main(String[] args) throws Exception {
        Map<String, Strict> strict = new LinkedHashMap<>();
        strict.put("list", new Strict(Main::notFound, PLUGIN));
        strict.put("error", new One(Main::error, PLUGIN));
        strict.put("hang", new One(Main::hang, PLUGIN));
        strict.put("other", new Strict(name -> Object.class, PLUGIN));
        strict.put("null", new One(name -> null, PLUGIN));
        strict.put("locked", new Locked(Main::notFound, PLUGIN));
        strict.put("parallel", new Parallel(Main::error, PLUGIN));
        Map<String, Class<?>> plugins = new LinkedHashMap<>();
        for (Map.Entry<String, Strict> each : strict.entrySet()) {
            plugins.put(each.getKey(), Class.forName(PLUGIN, true, each.getValue()));
        }
        Strict above = new Strict(Main::error);
        strict.put("above", above);
        plugins.put("below", new Below(above).define(PLUGIN));
        Strict outer = new One(Main::error, "loaders.Inner");
        strict.put("outer", outer);
        Object inner = outer.loadClass("loaders.Inner").getConstructor(ClassLoader.class, byte[].class)
                .newInstance(outer, code(PLUGIN));
        plugins.put("inner", Class.forName(PLUGIN, true, (ClassLoader) inner));
        Strict beside = new One(Main::error, "loaders.Host");
        strict.put("beside", beside);
        plugins.put("hidden", hidden(beside.loadClass("loaders.Host"), "loaders.Plain"));
        if (Runtime.version().feature() >= 15) {
            Object unreached = hidden(Main.class, "loaders.Unreached").getConstructor().newInstance();
            plugins.put("left", Class.forName("loaders.Left", true, (ClassLoader) unreached));
        }

        List<Method> runs = new ArrayList<>();
        for (Class<?> plugin : plugins.values()) {
            runs.add(plugin.getMethod("run", int.class));
        }
        System.out.println("ready");
        Scanner in = new Scanner(System.in);
        while (in.hasNextInt()) {
            int rounds = in.nextInt();
            CountDownLatch held = new CountDownLatch(strict.size());
            CountDownLatch done = new CountDownLatch(1);
            for (Strict each : strict.values()) {
                new Thread(() -> {
                    synchronized (each) {
                        held.countDown();
                        try {
                            done.await();
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    }
                }).start();
            }
            held.await();
            int sum = 0;
            for (Method run : runs) {
                sum += (int) run.invoke(null, rounds);
            }
            done.countDown();
            System.out.println("sum " + sum);
            System.out.println("done");
        }
        strict.forEach((name, loader) -> System.out.println(name + " " + loader.asked));
        System.out.println("right");
    }
}
