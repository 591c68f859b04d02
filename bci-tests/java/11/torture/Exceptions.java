package torture;

import java.util.concurrent.atomic.AtomicLong;

/** Exceptions thrown by code, by the VM, by compiled code, and from far below. */
public final class Exceptions {
    private static final class Quick extends RuntimeException {
        private static final long serialVersionUID = 1;
        private final Known known = new Known(3);

        Quick() {
            super("quick", null, false, false);
        }
    }

    private Exceptions() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 12_000);
        AtomicLong checksum = new AtomicLong();
        Say.together(3, number -> {
            long sum = 0;
            for (int round = 0; round < rounds; round++) {
                try {
                    sum += thrown(round % 7, round % 40);
                } catch (Quick e) {
                    sum += e.known.value;
                } catch (RuntimeException e) {
                    sum += e.getClass().getName().length();
                } finally {
                    sum++;
                }
            }
            checksum.addAndGet(sum);
        });
        Say.end(checksum.get(), 3L * (rounds / 7 + (rounds % 7 > 6 ? 1 : 0)));
    }

    private static int thrown(int kind, int depth) {
        if (depth > 0) {
            return thrown(kind, depth - 1) + 1;
        }
        Object none = kind > 100 ? "" : null;
        switch (kind) {
            case 0:
                return none.hashCode();
            case 1:
                int[] few = new int[kind];
                return few[kind + kind];
            case 2:
                return 1 / (kind - 2);
            case 3:
                return ((String) (Object) 5).length();
            case 4:
                Object[] array = new String[1];
                array[0] = 5;
                return 0;
            case 5:
                RuntimeException e = new IllegalStateException("outer", new IllegalStateException("inner"));
                e.addSuppressed(new IllegalArgumentException());
                throw e;
            default:
                throw new Quick();
        }
    }
}
