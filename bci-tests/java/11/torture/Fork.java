package torture;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import java.util.stream.IntStream;

/** Work that is split over a pool, with futures, parallel streams and a map that all change. */
public final class Fork {
    private Fork() {}

    private static final class Sum extends RecursiveTask<Long> {
        private static final long serialVersionUID = 1;
        private final int from;
        private final int to;

        Sum(int from, int to) {
            this.from = from;
            this.to = to;
        }

        @Override
        protected Long compute() {
            if (to - from < 8) {
                Known.sink = new Known(from);
                return (long) from * to;
            }
            Sum left = new Sum(from, (from + to) / 2);
            left.fork();
            return new Sum((from + to) / 2, to).compute() + left.join();
        }
    }

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 20);
        long checksum = 0;
        ForkJoinPool pool = new ForkJoinPool(4);
        ConcurrentHashMap<Integer, Long> map = new ConcurrentHashMap<>();
        for (int round = 0; round < rounds; round++) {
            checksum += pool.invoke(new Sum(0, 1 << 12));
            checksum += IntStream.range(0, 2_000).parallel().mapToLong(i -> map.merge(i % 50, 1L, Long::sum) > 0 ? 1 : 0).sum();
            checksum += CompletableFuture.supplyAsync(() -> 5, pool).thenCombineAsync(
                    CompletableFuture.supplyAsync(() -> 7), Integer::sum).get();
        }
        pool.shutdown();
        Say.end(checksum, rounds * 1024L);
    }
}
