package demo;

import java.util.concurrent.atomic.AtomicInteger;

/** One day at the desk; every clerk takes orders from it until none is left. */
final class OrderDesk implements Runnable {
    private final OrderCache cache;
    private final PriceFeed feed;
    private final int firstNumber;
    private final int orders;
    private final AtomicInteger taken = new AtomicInteger();

    OrderDesk(OrderCache cache, PriceFeed feed, int day, int orders) {
        this.cache = cache;
        this.feed = feed;
        this.firstNumber = (day - 1) * orders;
        this.orders = orders;
    }

    @Override
    public void run() {
        int next;
        while ((next = taken.getAndIncrement()) < orders) {
            take(firstNumber + next + 1);
        }
    }

    private void take(int number) {
        Order order = new Order(number);
        for (int line = 0; line < 3; line++) {
            order.add(new OrderLine("article-" + (number * 7 + line) % 90, 1 + (number + line) % 5));
        }
        // The leak: the cache drops the order later, but the feed keeps its watch for ever.
        feed.subscribe(new PriceWatch(number, order.quantity()));
        cache.put(order);
    }
}
