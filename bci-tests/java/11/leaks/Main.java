package leaks;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** Plants a leak and runs another program beside it. Arguments: which leak, that program's main class, its arguments. */
public final class Main {
    private Main() {}

    /** Who wants to know of something, and forgets to say when that ends. */
    static final class Watch {
        final byte[] state = new byte[200];
        final int number;

        Watch(int number) {
            this.number = number;
        }
    }

    /** What watches listen to. */
    static final class Feed {
        static final List<Watch> LISTENERS = new ArrayList<>();

        private Feed() {}

        static void subscribe(Watch watch) {
            LISTENERS.add(watch);
        }
    }

    /** What a worker remembers of each request for ever. */
    static final class Request {
        final byte[] body = new byte[200];
    }

    /** Requests by number, for each thread. */
    static final ThreadLocal<Map<Integer, Request>> CACHE = ThreadLocal.withInitial(HashMap::new);

    /** Loads the plugin anew. */
    static final class PluginLoader extends ClassLoader {
        PluginLoader() {
            super(Main.class.getClassLoader());
        }

        Object plugin() throws Exception {
            try (InputStream in = Main.class.getResourceAsStream("Plugin.class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass("leaks.Plugin", bytes, 0, bytes.length).getConstructor().newInstance();
            }
        }
    }

    /** Where plugins stay when they are replaced. */
    static final class Registry {
        static final Map<Integer, Object> PLUGINS = new HashMap<>();

        private Registry() {}
    }

    private static void listeners() {
        for (int number = 0; number < 20_000; number++) {
            Feed.subscribe(new Watch(number));
        }
    }

    /** Some more after each collection. */
    private static void growing() {
        for (int batch = 0; batch < 6; batch++) {
            for (int number = 0; number < 3000; number++) {
                Feed.subscribe(new Watch(number));
            }
            System.gc();
        }
    }

    private static void threadLocal() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        Thread worker = new Thread(() -> {
            for (int number = 0; number < 20_000; number++) {
                CACHE.get().put(number, new Request());
            }
            done.countDown();
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "request-worker");
        worker.setDaemon(true);
        worker.start();
        done.await();
    }

    private static void loaders() throws Exception {
        for (int number = 0; number < 200; number++) {
            Registry.PLUGINS.put(number, new PluginLoader().plugin());
        }
    }

    /** Plants, and runs the program. */
    public static void main(String[] args) throws Throwable {
        if (args[0].equals("listeners")) {
            listeners();
        } else if (args[0].equals("growing")) {
            growing();
        } else if (args[0].equals("thread-local")) {
            threadLocal();
        } else if (args[0].equals("loaders")) {
            loaders();
        } else {
            throw new IOException("no leak " + args[0]);
        }
        hold.Main.main(Arrays.copyOfRange(args, 1, args.length));
    }
}
