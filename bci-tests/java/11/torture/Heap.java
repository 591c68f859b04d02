package torture;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.ref.Cleaner;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicLong;
import sun.misc.Unsafe;

/** Objects made without {@code new}: cloned, by reflection, from bytes, and by {@code Unsafe}. */
final class Objects {
    private static volatile Object sink;

    private static final class Copied implements Cloneable, Serializable {
        private static final long serialVersionUID = 1;
        private final int[] values = {1, 2, 3};
        private final List<String> names = new ArrayList<>(List.of("a", "b"));

        Object copy() {
            try {
                return clone();
            } catch (CloneNotSupportedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private Objects() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 600);
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe unsafe = (Unsafe) field.get(null);
        Constructor<Known> constructor = Known.class.getConstructor(int.class);
        long[] sums = new long[3];
        Say.together(3, number -> {
            long sum = 0;
            Copied object = new Copied();
            for (int round = 0; round < rounds; round++) {
                sink = object.copy();
                Known.sink = constructor.newInstance(round);
                Known.sink = (Known) unsafe.allocateInstance(Known.class);
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
                    out.writeObject(object);
                }
                try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
                    sum += ((Copied) in.readObject()).names.size() + object.values.length;
                }
            }
            sums[number] = sum;
        });
        Say.end(sums[0] + sums[1] * 31 + sums[2] * 961, rounds * 6L);
    }
}

/** Arrays of every kind and size: none, many, larger than a region, of many dimensions, and refused. */
final class Arrays {
    private static volatile Object sink;

    private Arrays() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 60);
        long[] sums = new long[2];
        Say.together(2, number -> {
            long sum = 0;
            for (int round = 0; round < rounds; round++) {
                for (int power = 0; power < 20; power++) {
                    byte[] bytes = new byte[1 << power];
                    sink = bytes;
                    sink = java.util.Arrays.copyOf(bytes, bytes.length / 2);
                    sink = java.util.Arrays.copyOfRange(new Object[9], 0, 9, Known[].class);
                    sum += bytes.clone().length;
                    Known.sink = new Known(power);
                }
                sink = new int[3][round % 5][2];
                sink = new long[0][];
                sink = new Object[1 << 18];
                sink = new byte[2 << 20];
                try {
                    sink = new char[5 - round - 6];
                } catch (NegativeArraySizeException e) {
                    sum++;
                }
                sum += java.lang.reflect.Array.getLength(java.lang.reflect.Array.newInstance(int.class, 2, round));
            }
            sums[number] = sum;
        });
        Say.end(sums[0] * 31 + sums[1], rounds * 40L);
    }
}

/** Weak, soft and phantom references, cleaners, and finalizers that bring their objects back. */
final class References {
    private static final List<Object> REVIVED = new ArrayList<>();
    private static final Cleaner CLEANER = Cleaner.create();
    private static volatile int cleaned;

    private References() {}

    /** Lives once more. */
    private static final class Revived {
        private final Known known = new Known(7);

        @Override
        protected void finalize() {
            synchronized (REVIVED) {
                REVIVED.add(known);
                if (REVIVED.size() > 1_000) {
                    REVIVED.clear();
                }
            }
        }
    }

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 10);
        long checksum = 0;
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        List<Object> references = new ArrayList<>();
        WeakHashMap<Object, Object> map = new WeakHashMap<>();
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < 500; i++) {
                Object object = new Known(i);
                references.add(new WeakReference<>(object, queue));
                references.add(new SoftReference<>(object, queue));
                references.add(new PhantomReference<>(new Revived(), queue));
                CLEANER.register(new Object(), () -> cleaned++);
                map.put(object, new WeakReference<>(object));
                checksum += i;
            }
            System.gc();
            if (round % 3 == 2) {
                System.runFinalization();
                references.clear();
            }
            while (queue.poll() != null) {
                // What is cleared when is the collector's business.
                cleaned++;
            }
        }
        Say.end(checksum, rounds * 1_000L);
    }
}

/** Objects that C2 removes, and makes again when the method has to go back to the interpreter. */
final class Removed {
    private static final int TIMES = 30_000;

    private static final class Point {
        private final int x;
        private final Known known;

        Point(int x) {
            this.x = x;
            known = new Known(x);
        }
    }

    private Removed() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 3);
        long[] sums = new long[2];
        Say.together(2, number -> {
            long sum = 0;
            for (int round = 0; round < rounds; round++) {
                for (int i = 0; i < TIMES; i++) {
                    sum += of(i, i % 10_000 == 9_999, null);
                    synchronized (new Object()) {
                        sum += new int[] {i, round}.length;
                    }
                }
            }
            sums[number] = sum;
        });
        Say.end(sums[0] * 31 + sums[1], rounds * 2L * TIMES * 2);
    }

    /** The points escape only where nobody has been yet. */
    private static int of(int i, boolean rarely, Object[] out) {
        Point first = new Point(i);
        Point second = new Point(i + 1);
        if (rarely) {
            Object[] both = {first, second, out};
            Known.sink = ((Point) both[i & 1]).known;
        }
        return first.x + second.known.value;
    }
}

/** A heap that is full at every allocation there is: whatever is made, an {@code OutOfMemoryError} comes of it. */
final class Memory {
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

/** Exceptions thrown by code, by the VM, by compiled code, and from far below. */
final class Exceptions {
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
