package torture;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import sun.misc.Unsafe;

/** Objects made without {@code new}: cloned, by reflection, from bytes, and by {@code Unsafe}. */
public final class Objects {
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
