package demo;

/**
 * A small order desk: ten business days, three hundred orders a day, three clerks.
 *
 * It looks healthy and answers correctly, and it keeps a little more memory with every order. Objects of one class leak;
 * objects of another are created and dropped in large numbers. {@code martini demo} shows which.
 */
public final class Main {
    private static final int DAYS = 10;
    private static final int ORDERS_A_DAY = 300;
    private static final int CLERKS = 3;

    private Main() {
    }

    /**
     * Runs the desk.
     *
     * @param args not used
     * @throws InterruptedException never: no thread interrupts another
     */
    public static void main(String[] args) throws InterruptedException {
        OrderCache cache = new OrderCache(200);
        PriceFeed feed = new PriceFeed();
        for (int day = 1; day <= DAYS; day++) {
            int lines = work(cache, feed, day);
            System.out.println("day " + day + ": " + ORDERS_A_DAY + " orders, a report of " + lines + " lines");
            // A server under load collects all the time. One collection a day makes the ages the same on any machine.
            System.gc();
        }
        System.out.println("closed: " + DAYS * ORDERS_A_DAY + " orders taken, " + cache.size() + " still in the cache");
    }

    private static int work(OrderCache cache, PriceFeed feed, int day) throws InterruptedException {
        OrderDesk desk = new OrderDesk(cache, feed, day, ORDERS_A_DAY);
        Thread[] clerks = new Thread[CLERKS];
        for (int i = 0; i < clerks.length; i++) {
            clerks[i] = new Thread(desk, "clerk-" + (i + 1));
            clerks[i].start();
        }
        for (Thread clerk : clerks) {
            clerk.join();
        }
        feed.publish(100 + day);
        return (int) new Report(cache).text().chars().filter(c -> c == '\n').count();
    }
}
