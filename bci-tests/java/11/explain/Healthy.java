package explain;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Clean: a loop that computes, on arrays that are made once. */
final class Compute {
    private Compute() {}

    public static void main(String[] args) {
        boolean[] composite = new boolean[4_000_000];
        long sum = 0;
        for (int round = 0; round < 12; round++) {
            java.util.Arrays.fill(composite, false);
            for (int number = 2; number < composite.length; number++) {
                if (composite[number]) {
                    continue;
                }
                sum += number;
                for (long multiple = (long) number * number; multiple < composite.length; multiple += number) {
                    composite[(int) multiple] = true;
                }
            }
        }
        System.out.println("sum of primes " + sum);
    }
}

/** Clean: counts the words of a text, and makes a string of each word that it has not seen before only. */
final class Parser {
    private static final int ROUNDS = 60;

    private Parser() {}

    public static void main(String[] args) {
        byte[] text = text();
        Map<String, int[]> words = new HashMap<>();
        int[][] counts = new int[1 << 16][];
        for (int round = 0; round < ROUNDS; round++) {
            parse(text, words, counts);
        }
        System.out.println(words.size() + " different words, \"word7\" " + words.get("word7")[0] + " times");
    }

    private static void parse(byte[] text, Map<String, int[]> words, int[][] counts) {
        int start = 0;
        int hash = 0;
        for (int at = 0; at < text.length; at++) {
            if (text[at] != ' ') {
                hash = hash * 31 + text[at];
                continue;
            }
            int slot = (hash ^ hash >>> 16) & counts.length - 1;
            if (counts[slot] == null) {
                String word = new String(text, start, at - start, java.nio.charset.StandardCharsets.US_ASCII);
                counts[slot] = words.computeIfAbsent(word, unused -> new int[1]);
            }
            counts[slot][0]++;
            start = at + 1;
            hash = 0;
        }
    }

    private static byte[] text() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 200_000; i++) {
            text.append("word").append(i * 7919L % 1_000).append(' ');
        }
        return text.toString().getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    }
}

/** Clean: requests to four threads, answered from a cache that has a bound and a lock that is held for a moment. */
final class Server {
    private static final int REQUESTS = 4_000;
    private static final int BATCHES = 8;

    private Server() {}

    public static void main(String[] args) throws InterruptedException {
        Cache cache = new Cache(500);
        ExecutorService pool = Executors.newFixedThreadPool(4);
        for (int batch = 0; batch < BATCHES; batch++) {
            for (int i = 0; i < REQUESTS / BATCHES; i++) {
                int article = (batch * 7919 + i * 31) % 1_000;
                pool.execute(() -> cache.answer(article));
            }
            Thread.sleep(100);
            System.gc();
        }
        pool.shutdown();
        System.out.println("ended " + pool.awaitTermination(60, TimeUnit.SECONDS) + ", " + cache.size() + " cached");
    }

    private static final class Cache {
        private final Map<Integer, byte[]> pages;

        Cache(int bound) {
            pages = new LinkedHashMap<>() {
                private static final long serialVersionUID = 1L;

                @Override
                protected boolean removeEldestEntry(Map.Entry<Integer, byte[]> eldest) {
                    return size() > bound;
                }
            };
        }

        int answer(int article) {
            byte[] page = known(article);
            if (page == null) {
                page = new byte[2_000 + article % 100];
                remember(article, page);
            }
            return page.length;
        }

        private synchronized byte[] known(int article) {
            return pages.get(article);
        }

        private synchronized void remember(int article, byte[] page) {
            pages.put(article, page);
        }

        synchronized int size() {
            return pages.size();
        }
    }
}
