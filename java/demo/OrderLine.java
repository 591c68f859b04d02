package demo;

/** One article of an order. */
final class OrderLine {
    private final String article;
    private final int quantity;

    OrderLine(String article, int quantity) {
        this.article = article;
        this.quantity = quantity;
    }

    String article() {
        return article;
    }

    int quantity() {
        return quantity;
    }
}
