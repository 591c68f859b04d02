package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Allocates in a test, and prints on both streams. */
class OrdersTest {
    static final int ORDERS = 200_000;

    @Test
    void ordersAreKept() {
        List<Object> orders = new ArrayList<>();
        for (int order = 0; order < ORDERS; order++) {
            orders.add(new int[4]);
            price(order);
        }
        System.out.println("orders " + orders.size());
        System.err.println("done");
        assertEquals(ORDERS, orders.size());
    }

    /** The line that begins to allocate. */
    static long price(int order) {
        return order * 3L;
    }
}
