package start;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/** A program whose first request is slow: a static initialiser two calls below it. */
public class Main {
    static final long SLOW = 300_000_000L;

    static class Rules {
        static final int COUNT;

        static {
            long end = System.nanoTime() + SLOW;
            int count = Tables.SIZE;
            while (System.nanoTime() < end) {
                count = count * 31 + 1;
            }
            COUNT = count;
        }
    }

    static class Tables {
        static final int SIZE;

        static {
            try {
                Thread.sleep(100);
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
            SIZE = Main.class.getName().length();
        }
    }

    static int handle(int request) {
        return validate(request) + request;
    }

    static int validate(int request) {
        return Rules.COUNT ^ request; // line of Rules
    }

    static int work(int rounds) {
        int sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum += Integer.toString(i).hashCode() ^ handle(i);
        }
        return sum;
    }

    static int probe(int names) {
        int found = 0;
        for (int i = 0; i < names; i++) {
            try {
                found += Class.forName("absent.Plugin" + i).hashCode();
            } catch (ClassNotFoundException absent) {
                found--;
            }
        }
        return found;
    }

    public static void main(String[] args) {
        System.out.println("absent " + -probe(40));
        long begun = System.nanoTime();
        int first = handle(1);
        System.out.println("first " + (System.nanoTime() - begun));
        for (int i = 0; i < 50; i++) {
            first += work(20_000);
        }
        System.gc();
        long collections = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            collections += bean.getCollectionCount();
        }
        System.out.println("result " + first);
        System.out.println("collections " + collections);
        System.out.println("loaded " + ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount());
    }
}
