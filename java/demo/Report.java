package demo;

/**
 * The report of a day, built inefficiently: every line copies the whole text so far into a new, longer one. Nothing of
 * it survives the day: many short-lived objects, and no leak.
 */
final class Report {
    private final OrderCache cache;

    Report(OrderCache cache) {
        this.cache = cache;
    }

    String text() {
        String text = "";
        for (Order order : cache.all()) {
            for (OrderLine line : order.lines()) {
                text = text.concat(new Row(order.number(), line).text());
            }
        }
        return text;
    }

    /** One row of the text. */
    private static final class Row {
        private final int order;
        private final OrderLine line;

        Row(int order, OrderLine line) {
            this.order = order;
            this.line = line;
        }

        String text() {
            StringBuilder text = new StringBuilder();
            text.append(order).append(' ').append(line.article()).append(' ').append(line.quantity()).append('\n');
            return text.toString();
        }
    }
}
