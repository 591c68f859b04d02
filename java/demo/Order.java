package demo;

import java.util.ArrayList;
import java.util.List;

/** An order and its lines. */
final class Order {
    private final int number;
    private final List<OrderLine> lines = new ArrayList<>(3);

    Order(int number) {
        this.number = number;
    }

    void add(OrderLine line) {
        lines.add(line);
    }

    int number() {
        return number;
    }

    List<OrderLine> lines() {
        return lines;
    }

    int quantity() {
        int sum = 0;
        for (OrderLine line : lines) {
            sum += line.quantity();
        }
        return sum;
    }
}
