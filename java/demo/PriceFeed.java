package demo;

import java.util.ArrayList;
import java.util.List;

/** Reports new prices to every subscriber. Subscribers cannot unsubscribe: that is the bug. */
final class PriceFeed {
    private final List<PriceWatch> watches = new ArrayList<>();

    synchronized void subscribe(PriceWatch watch) {
        watches.add(watch);
    }

    synchronized void publish(int price) {
        for (PriceWatch watch : watches) {
            watch.priceChanged(price);
        }
    }
}
