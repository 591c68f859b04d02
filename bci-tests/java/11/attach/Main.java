package attach;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;

/**
 * A busy program that does what its standard input says: {@code run N} makes so many nodes and prints their sum, {@code hide N} makes so many
 * that nobody else sees, each in an array, {@code contend} holds the lock of the busy threads until one of them waits for it,
 * {@code collect} collects garbage, {@code turns} prints how much its threads have done, {@code deepen} has further threads stay in methods
 * of many classes, anew each time. At the end it prints whether its threads have counted right.
 */
public class Main {
    static final class Node {
        final long value;

        Node(long value) {
            this.value = value;
        }
    }

    private static final Object LOCK = new Object();
    private static volatile Object sink;
    private static volatile boolean ends;
    private static long locked;

    private static Node make(long value) {
        return new Node(value);
    }

    private static long run(int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            Node node = make(i);
            sink = node;
            sum += node.value;
        }
        return sum;
    }

    private static long hide(int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            Node[] nodes = {make(i)};
            sum += nodes[0].value;
        }
        return sum;
    }

    /** One turn of a busy thread: it allocates, computes, and waits for the others. */
    private static long turn(int number) {
        long length = 0;
        for (int i = 0; i < 200; i++) {
            byte[] bytes = new byte[i];
            sink = bytes;
            length += bytes.length + ("" + (number & 7)).length();
        }
        synchronized (LOCK) {
            locked++;
            long rounds = 0;
            for (int i = 0; i < 2000; i++) rounds ^= i * 31L + locked;
            sink = rounds;
        }
        return length;
    }

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[2];
        long[] turns = new long[threads.length];
        boolean[] isRight = new boolean[threads.length];
        for (int t = 0; t < threads.length; t++) {
            int own = t;
            threads[t] = new Thread(() -> {
                long sum = 0;
                while (!ends) {
                    sum += turn((int) turns[own]);
                    turns[own]++;
                    if (turns[own] % 100 == 0) {
                        try {
                            Thread.sleep(1);
                        } catch (InterruptedException e) {
                            return;
                        }
                    }
                }
                isRight[own] = sum == turns[own] * (199 * 200 / 2 + 200);
            }, "busy-" + t);
            threads[t].start();
        }
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Deep deep = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "run":
                    System.out.println("sum " + run(Integer.parseInt(words[1])));
                    break;
                case "hide":
                    System.out.println("sum " + hide(Integer.parseInt(words[1])));
                    break;
                case "contend":
                    synchronized (LOCK) {
                        while (threads[0].getState() != Thread.State.BLOCKED) Thread.sleep(1);
                    }
                    System.out.println("contended");
                    break;
                case "turns":
                    System.out.println("turns " + (turns[0] + turns[1]));
                    break;
                case "deepen":
                    if (deep == null) deep = new Deep();
                    else deep.renew();
                    System.out.println("deep");
                    break;
                case "collect":
                    System.gc();
                    System.out.println("collected");
                    break;
                default:
                    System.out.println(line + "?");
            }
        }
        ends = true;
        if (deep != null) deep.end();
        boolean allRight = true;
        for (int t = 0; t < threads.length; t++) {
            threads[t].join();
            allRight &= isRight[t];
        }
        System.out.println(allRight && locked == turns[0] + turns[1] ? "right" : "wrong");
    }
}

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

/**
 * Loads the class by which the library notes that one module reads another, as soon as a thread of the agent's is there that rewrites
 * classes; each line on its standard input has it make a proxy in a module of its own, which needs that class.
 */
final class Edges {
    private static volatile boolean isDone;

    private Edges() {}

    public static void main(String[] args) throws Exception {
        Thread watcher = new Thread(Edges::watch);
        watcher.start();
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            watcher.join();
            Proxy.newProxyInstance(
                    new ClassLoader() {}, new Class<?>[] {Runnable.class}, (self, method, given) -> null);
            System.out.println("made");
        }
        isDone = true;
        watcher.join();
        System.out.println("right");
    }

    private static void watch() {
        try {
            while (!isDone && !isAgentThere()) Thread.onSpinWait();
            Class.forName("java.lang.WeakPairMap$Pair$Weak", false, null);
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isAgentThere() throws IOException {
        for (File task : new File("/proc/self/task").listFiles()) {
            try (FileInputStream in = new FileInputStream(new File(task, "comm"))) {
                byte[] name = new byte[16];
                int length = in.read(name);
                if (new String(name, 0, Math.max(0, length), StandardCharsets.US_ASCII).startsWith("Martini linked")) return true;
            } catch (FileNotFoundException e) {
                // It has ended.
            }
        }
        return false;
    }
}

/**
 * Leaves compiled code all the time at places where the JIT has removed an object that the interpreter needs: an array that is not to hold
 * the box that is stored in it, and a box that is used after an exception.
 */
final class Removed {
    private static final int WARM = 100_000;
    private static final int[] FEW = new int[1];

    private static volatile boolean isDone;
    private static volatile long rounds;
    private static String wrong;

    private Removed() {}

    public static void main(String[] args) throws Exception {
        Thread worker = new Thread(() -> {
            while (!isDone && wrong == null) {
                round((int) (rounds % 1000) + 1000);
                rounds++;
            }
        });
        worker.start();
        while (rounds < WARM && worker.isAlive()) Thread.sleep(1);
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            long until = rounds + WARM;
            while (rounds < until && worker.isAlive()) Thread.sleep(1);
            System.out.println("went on");
        }
        isDone = true;
        worker.join();
        System.out.println(wrong == null ? "right" : wrong);
    }

    private static void round(int number) {
        try {
            store(number);
            wrong = "nothing was thrown";
        } catch (ArrayStoreException expected) {
            // The array was there.
        } catch (RuntimeException e) {
            wrong = e.toString();
        }
        try {
            if (box(number) != number) wrong = "another box";
        } catch (RuntimeException e) {
            wrong = e.toString();
        }
    }

    private static int store(int number) {
        Object[] texts = new String[1];
        texts[0] = number;
        return number;
    }

    private static int box(int number) {
        Integer box = number;
        try {
            return FEW[number];
        } catch (ArrayIndexOutOfBoundsException expected) {
            return box;
        }
    }
}
