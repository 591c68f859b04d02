package attach;

import java.io.BufferedReader;
import java.io.InputStreamReader;

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
