package torture;

/** A heap that is full at every allocation there is: whatever is made, an {@code OutOfMemoryError} comes of it. */
public final class Memory {
    private static final byte[] EACH = Say.bytes("each failed");
    private static final byte[] SOME = Say.bytes("some did not fail");

    /** A chain that fills the heap: an object array per step. */
    private static Object[] chain;
    private static volatile Object sink;

    private Memory() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 5);
        // All code is there before the heap is full.
        for (int kind = 0; kind < 8; kind++) {
            make(kind, 1);
        }
        Thread[] others = {
            new Thread(() -> failing(rounds), "failing-1"), new Thread(() -> failing(rounds), "failing-2"),
        };
        int failed = 0;
        for (int round = 0; round < rounds; round++) {
            fill(1 << 16);
            fill(1 << 10);
            fill(64);
            for (int kind = 0; kind < 8; kind++) {
                try {
                    make(kind, 1_000_000_000);
                } catch (OutOfMemoryError e) {
                    failed++;
                }
            }
            chain = null;
            if (round == rounds / 2) {
                others[0].start();
                others[1].start();
            }
        }
        others[0].join();
        others[1].join();
        chain = null;
        Say.bytes(failed == rounds * 8 ? EACH : SOME);
    }

    private static void fill(int size) {
        try {
            while (true) {
                Object[] next = new Object[size];
                next[0] = chain;
                chain = next;
            }
        } catch (OutOfMemoryError e) {
            // Full, for objects of this size.
        }
    }

    private static void failing(int rounds) {
        for (int i = 0; i < rounds; i++) {
            try {
                make(i % 8, 1_000_000_000);
            } catch (OutOfMemoryError e) {
                Thread.yield();
            }
        }
    }

    private static void make(int kind, int size) {
        switch (kind) {
            case 0:
                sink = new byte[size];
                break;
            case 1:
                sink = new long[size];
                break;
            case 2:
                sink = new Object[size];
                break;
            case 3:
                sink = new int[size / 1_000 + 1][1_000_000];
                break;
            case 4:
                sink = java.util.Arrays.copyOf(new int[1], size);
                break;
            case 5:
                sink = java.lang.reflect.Array.newInstance(double.class, size);
                break;
            case 6:
                sink = new char[size].clone();
                break;
            default:
                sink = new StringBuilder(size).append(size);
                break;
        }
    }
}
