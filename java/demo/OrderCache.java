package demo;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The newest orders. The cache is bounded: a new order replaces the oldest. */
final class OrderCache {
    private final Map<Integer, Order> orders;

    OrderCache(int limit) {
        orders = new LinkedHashMap<Integer, Order>() {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Integer, Order> eldest) {
                return size() > limit;
            }
        };
    }

    synchronized void put(Order order) {
        orders.put(order.number(), order);
    }

    synchronized List<Order> all() {
        return new ArrayList<>(orders.values());
    }

    synchronized int size() {
        return orders.size();
    }
}
