package torture;

import java.util.concurrent.atomic.AtomicLong;

/** Stacks that are as deep as they can be, with an error at the end of each, or with allocations all the way down. */
public final class Deep {
    private Deep() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 15);
        AtomicLong checksum = new AtomicLong();
        // What is needed behind an error is there before it.
        byte[] bad = Say.bytes("an error of another class");
        descend(10);
        Say.together(3, number -> {
            for (int round = 0; round < rounds; round++) {
                checksum.addAndGet(descend(300));
                try {
                    int depth = number == 0 ? forever(0) : number == 1 ? wide(1, 2, 3, 4, 5, 6) : boxing(0);
                    checksum.addAndGet(depth);
                } catch (StackOverflowError e) {
                    checksum.addAndGet(31);
                } catch (VirtualMachineError e) {
                    Say.bytes(bad);
                }
                checksum.addAndGet(finals(0) > 0 ? 1 : 0);
            }
        });
        Say.end(checksum.get(), 11 + rounds * 3L * 301);
    }

    private static int descend(int depth) {
        Known.sink = new Known(depth);
        return depth == 0 ? 1 : 1 + descend(depth - 1);
    }

    private static int forever(int depth) {
        return forever(depth + 1) + 1;
    }

    private static int wide(long a, long b, long c, long d, double e, double f) {
        Object[] kept = {a, b};
        return wide(b, c, d, a, f, e) + kept.length;
    }

    private static int boxing(Integer depth) {
        synchronized (Deep.class) {
            return boxing(new Integer(depth + 1000)) + new int[] {depth}.length;
        }
    }

    private static int finals(int depth) {
        try {
            return finals(depth + 1);
        } catch (StackOverflowError e) {
            return depth;
        }
    }
}
