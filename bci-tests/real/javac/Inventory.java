import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Something for a compiler to chew on: generics, lambdas, inner classes, switches. */
public class Inventory<T extends Comparable<T>> {
    enum Kind { FRESH, STORED, SOLD }

    static class Item<T> implements Comparable<Item<T>> {
        final T label;
        final Kind kind;
        final int amount;

        Item(T label, Kind kind, int amount) {
            this.label = label;
            this.kind = kind;
            this.amount = amount;
        }

        @Override
        public int compareTo(Item<T> other) {
            return Integer.compare(amount, other.amount);
        }
    }

    private final List<Item<T>> items = new ArrayList<>();

    void add(T label, Kind kind, int... amounts) {
        for (int amount : amounts) {
            items.add(new Item<>(label, kind, amount));
        }
    }

    Map<Kind, Integer> totals() {
        return items.stream().collect(Collectors.groupingBy(item -> item.kind, Collectors.summingInt(item -> item.amount)));
    }

    String describe(Function<? super T, String> naming) {
        StringBuilder text = new StringBuilder();
        items.sort(Comparator.<Item<T>>naturalOrder().reversed());
        for (Item<T> item : items) {
            switch (item.kind) {
                case FRESH:
                    text.append("fresh ");
                    break;
                case SOLD:
                    text.append("sold ");
                    break;
                default:
                    text.append("stored ");
            }
            text.append(naming.apply(item.label)).append(" x").append(item.amount).append('\n');
        }
        return text.toString();
    }

    public static void main(String[] args) {
        Inventory<String> inventory = new Inventory<>();
        inventory.add("apple", Kind.FRESH, 1, 2, 3);
        inventory.add("pear", Kind.SOLD, 4, 5);
        Runnable printing = new Runnable() {
            @Override
            public void run() {
                System.out.println(inventory.describe(String::toUpperCase) + inventory.totals());
            }
        };
        printing.run();
    }
}
