package explain;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Clean: requests to four threads, answered from a cache that has a bound and a lock that is held for a moment. */
public final class Server {
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
