package demo;

/**
 * A small order desk: ten business days, three hundred orders a day, three clerks.
 *
 * It behaves like many a service: it looks healthy, answers correctly, and loses a little memory with every order. One
 * class leaks, another is created and dropped in large numbers. Find out which with {@code martini demo}.
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
     * @param args none are used
     * @throws InterruptedException never: nobody interrupts the desk
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
