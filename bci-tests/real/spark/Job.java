import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/** A job of Spark that two threads work on, again and again until its standard input ends: it prices receipts, and checks their sum. */
public final class Job {
    private static final int RECEIPTS = 4000;
    private static final Object LEDGER = new Object();
    private static long entries;
    private static volatile boolean ends;

    private Job() {}

    static int price(int number) {
        byte[] receipt = new byte[1000 + number % 500]; // line of the allocations
        for (int i = 0; i < receipt.length; i++) {
            receipt[i] = (byte) (number * 31 + i);
        }
        enter(receipt);
        return receipt.length;
    }

    /** Whoever is second waits for the other thread. */
    private static void enter(byte[] receipt) {
        synchronized (LEDGER) { // line of the lock
            long sum = 0;
            for (int round = 0; round < 30; round++) {
                for (byte digit : receipt) {
                    sum = sum * 31 + digit; // line of the CPU time
                }
            }
            entries += sum & 1;
        }
    }

    public static void main(String[] args) {
        List<Integer> numbers = new ArrayList<>();
        long expected = 0;
        for (int i = 0; i < RECEIPTS; i++) {
            numbers.add(i);
            expected += 1000 + i % 500;
        }
        new Thread(() -> {
            try {
                while (System.in.read() >= 0) { }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } finally {
                ends = true;
            }
        }, "until-the-end").start();
        SparkConf conf = new SparkConf().setMaster("local[2]").setAppName("receipts").set("spark.ui.enabled", "false");
        try (JavaSparkContext spark = new JavaSparkContext(conf)) {
            int rounds = 0;
            while (!ends) {
                long sum = spark.parallelize(numbers, 2).map(number -> (long) price(number)).reduce(Long::sum);
                if (sum != expected) {
                    throw new AssertionError(sum + " instead of " + expected);
                }
                if (++rounds == 3) {
                    System.out.println("ready");
                }
            }
            System.out.println(rounds + " rounds");
        }
    }
}
