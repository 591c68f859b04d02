package demo;

/** Watches the price of one order and keeps a history. */
final class PriceWatch {
    private final int order;
    private final int quantity;
    private final long[] history = new long[16];
    private int seen;

    PriceWatch(int order, int quantity) {
        this.order = order;
        this.quantity = quantity;
    }

    void priceChanged(int price) {
        history[seen++ % history.length] = (long) price * quantity;
    }

    @Override
    public String toString() {
        return "watch of order " + order;
    }
}
