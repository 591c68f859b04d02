package torture;

/** A class that the JIT believes to have no subclass, until there is one. */
public class Family {
    /** Overridden sooner or later. */
    public int value(int i) {
        return i * 31 + 7;
    }

    /** Calls it often; each fortieth time it makes a {@link Known}. */
    public static long spin(Family family, int times) {
        long sum = 0;
        for (int i = 0; i < times; i++) {
            sum = sum * 31 + family.value(i);
            if (i % 40 == 0) {
                Known.sink = new Known(i);
            }
        }
        return sum;
    }

    /** What compiled code leaves to the interpreter when it happens for the first time. */
    public static int trap(Object object, int[] array, int index) {
        try {
            int of = object instanceof Integer ? (Integer) object : object.hashCode() == 0 ? 5 : 3;
            return array[index] / of;
        } catch (NullPointerException | ArrayIndexOutOfBoundsException | ArithmeticException e) {
            return e.getClass().getName().length();
        }
    }

    /** Loaded while its parent runs. */
    public static class Child extends Family {
        @Override
        public int value(int i) {
            return i * 17 ^ 5;
        }
    }
}
