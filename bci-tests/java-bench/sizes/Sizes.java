package sizes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Arrays of known sizes, as many bytes of each: {@code Sizes sorted|mixed ROUNDS}. In each round each method makes 4 MB, the smallest arrays
 * first or in an order that is always another, and {@link #kept} arrays of 1 KiB that stay, 1 MB in all, which is a leak. Prints
 * {@code METHOD=BYTES}.
 */
public final class Sizes {
    /** Of an array, in bytes: on a 64-bit JVM with compressed class pointers. */
    private static final int HEADER = 16;
    private static final int BYTES = 4 << 20;
    private static final int[] SIZES = {
        16, 32, 64, 128, 512, 2048, 8192, 32768, 131072, 524288, 1048576, 4194304
    };
    private static final int LEAK = 0;
    private static final List<byte[]> KEPT = new ArrayList<>();
    private static byte[] sink;

    private Sizes() {}

    public static void main(String[] args) {
        boolean isMixed = args[0].equals("mixed");
        int rounds = Integer.parseInt(args[1]);
        int[] order = Arrays.copyOf(SIZES, SIZES.length + 1);
        order[SIZES.length] = LEAK;
        Random random = new Random(5);
        for (int round = 0; round < rounds; round++) {
            for (int i = order.length - 1; isMixed && i > 0; i--) {
                int other = random.nextInt(i + 1);
                int size = order[i];
                order[i] = order[other];
                order[other] = size;
            }
            for (int size : order) {
                make(size);
            }
        }
        for (int size : SIZES) {
            System.out.println("s" + size + "=" + (long) rounds * (BYTES / size) * size);
        }
        System.out.println("kept=" + KEPT.size() * 1024L);
    }

    private static void make(int size) {
        int count = size == LEAK ? 1024 : BYTES / size;
        switch (size) {
            case LEAK:
                kept(count);
                break;
            case 16:
                s16(count);
                break;
            case 32:
                s32(count);
                break;
            case 64:
                s64(count);
                break;
            case 128:
                s128(count);
                break;
            case 512:
                s512(count);
                break;
            case 2048:
                s2048(count);
                break;
            case 8192:
                s8192(count);
                break;
            case 32768:
                s32768(count);
                break;
            case 131072:
                s131072(count);
                break;
            case 524288:
                s524288(count);
                break;
            case 1048576:
                s1048576(count);
                break;
            case 4194304:
                s4194304(count);
                break;
            default:
                throw new IllegalArgumentException();
        }
    }

    private static void kept(int count) {
        for (int i = 0; i < count; i++) {
            KEPT.add(new byte[1024 - HEADER]);
        }
    }

    private static void s16(int count) {
        for (int i = 0; i < count; i++) {
            sink = new byte[16 - HEADER];
        }
    }

    private static void s32(int count) {
        for (int i = 0; i < count; i++) {
            sink = new byte[32 - HEADER];
        }
    }

    private static void s64(int count) {
        for (int i = 0; i < count; i++) {
            sink = new byte[64 - HEADER];
        }
    }

    private static void s128(int count) {
        for (int i = 0; i < count; i++) {
            sink = new byte[128 - HEADER];
        }
    }

    private static void s512(int count) {
        for (int i = 0; i < count; i++) {
            sink = new byte[512 - HEADER];
        }
    }

    private static void s2048(int count) {
        for (int i = 0; i < count; i++) {
            sink = new byte[2048 - HEADER];
        }
    }

    private static void s8192(int count) {
        for (int i = 0; i < count; i++) {
            sink = new byte[8192 - HEADER];
        }
    }

    private static void s32768(int count) {
        for (int i = 0; i < count; i++) {
            sink = new byte[32768 - HEADER];
        }
    }

    private static void s131072(int count) {
        for (int i = 0; i < count; i++) {
            sink = new byte[131072 - HEADER];
        }
    }

    private static void s524288(int count) {
        for (int i = 0; i < count; i++) {
            sink = new byte[524288 - HEADER];
        }
    }

    private static void s1048576(int count) {
        for (int i = 0; i < count; i++) {
            sink = new byte[1048576 - HEADER];
        }
    }

    private static void s4194304(int count) {
        for (int i = 0; i < count; i++) {
            sink = new byte[4194304 - HEADER];
        }
    }
}
