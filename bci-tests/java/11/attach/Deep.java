package attach;

import java.io.InputStream;
import java.util.concurrent.locks.LockSupport;

/** Threads that stay in methods of many classes, and allocate there: when a class is given other code, they still run the former. */
class Deep {
    /** Calls that many links one after the other; the stacks that are recorded are as deep. */
    private static final int LINKS = 56;
    private static final int CHAINS = 4;
    private static final int THREADS_OF_CHAIN = 8;

    /** A link of a chain, each a class of its own. */
    public static class Link implements Runnable {
        Object sink;
        private final Runnable next;

        public Link(Runnable next) {
            this.next = next;
        }

        @Override
        public void run() {
            sink = new byte[8];
            next.run();
            sink = new byte[9];
        }
    }

    private static final class Loader extends ClassLoader {
        Loader() {
            super(Deep.class.getClassLoader());
        }

        Class<?> define(byte[] classFile) {
            return defineClass(Link.class.getName(), classFile, 0, classFile.length);
        }
    }

    private final Runnable[] chains = new Runnable[CHAINS];
    private final Thread[] threads = new Thread[CHAINS * THREADS_OF_CHAIN];
    private volatile boolean ends;
    private volatile Object sink;

    Deep() throws Exception {
        byte[] classFile;
        try (InputStream in = Deep.class.getResourceAsStream("Deep$Link.class")) {
            classFile = in.readAllBytes();
        }
        for (int c = 0; c < CHAINS; c++) {
            Runnable chain = this::allocate;
            for (int i = 0; i < LINKS; i++) {
                chain = (Runnable) new Loader().define(classFile).getConstructor(Runnable.class).newInstance(chain);
            }
            chains[c] = chain;
        }
        start();
    }

    private void allocate() {
        while (!ends) {
            for (int i = 0; i < 1000; i++) sink = make();
            LockSupport.parkNanos(500_000);
        }
    }

    private static Object make() {
        return new byte[16];
    }

    private void start() {
        ends = false;
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(chains[t % CHAINS], "deep-" + t);
            threads[t].start();
        }
    }

    /** Lets them return. */
    void end() throws InterruptedException {
        ends = true;
        for (Thread thread : threads) thread.join();
    }

    /** Others take their places, in the code that the classes have now. */
    void renew() throws InterruptedException {
        end();
        start();
    }
}
