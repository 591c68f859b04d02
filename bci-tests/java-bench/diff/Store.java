package shop;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Allocates in several methods, and in a thread by the clock. The benchmark of comparisons changes it as text. */
public final class Store {
    private static final int ROUNDS = 300;
    static volatile Object sink;

    private Store() {}

    /** What an order is. */
    static final class Order {
        final long id;
        final long[] items;

        Order(long id) {
            this.id = id;
            this.items = new long[4];
        }
    }

    static void orders() {
        for (int i = 0; i < 1000; i++) sink = new Order(i);
    }

    static void names() {
        for (int i = 0; i < 1000; i++) sink = name(i);
    }

    static String name(int i) {
        return "customer " + i + " of " + (i % 7);
    }

    static void prices() {
        List<Integer> prices = new ArrayList<>();
        for (int i = 0; i < 1000; i++) prices.add(i * 1000);
        sink = prices;
    }

    static void page() {
        StringBuilder page = new StringBuilder();
        for (int i = 0; i < 500; i++) page.append("<td>").append(i);
        sink = page.toString();
    }

    static void index() {
        Map<String, Integer> index = new HashMap<>();
        for (int i = 0; i < 500; i++) index.put("k" + i, i);
        sink = index;
    }

    static void buffers() {
        for (int i = 0; i < 100; i++) sink = new byte[600];
        for (int i = 0; i < 100; i++) sink = new int[50];
    }

    static void copies() {
        byte[] from = new byte[400];
        for (int i = 0; i < 100; i++) sink = from.clone();
    }

    /** Allocates by the clock, so that no two runs are the same. */
    static void poll() {
        while (true) {
            for (int i = 0; i < 50; i++) sink = new char[30];
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    public static void main(String[] args) {
        Thread poller = new Thread(Store::poll);
        poller.setDaemon(true);
        poller.start();
        for (int round = 0; round < ROUNDS; round++) {
            orders();
            names();
            prices();
            page();
            index();
            buffers();
            copies();
        }
        System.out.println(sink);
    }
}
