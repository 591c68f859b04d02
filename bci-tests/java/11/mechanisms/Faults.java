package mechanisms;

/** Exceptions that the JVM makes for bytecode that fails. Once compiled, it may throw one and the same again and again. */
final class Faults {
    private static final Object[] NONE = {};
    private static final Object[] INTEGERS = new Integer[1];
    private static Object text = "text";
    private static String nothing;
    private static int zero;

    private Faults() {}

    /** How many of the exceptions thrown were new. */
    private static final class Fresh {
        private RuntimeException last;
        private int number;

        void count(RuntimeException e) {
            if (e != last) {
                number++;
                last = e;
            }
        }
    }

    private static final Fresh NULLS = new Fresh();
    private static final Fresh INDICES = new Fresh();
    private static final Fresh DIVISIONS = new Fresh();
    private static final Fresh CASTS = new Fresh();
    private static final Fresh STORES = new Fresh();
    private static final Fresh SIZES = new Fresh();

    @Makes("java.lang.NullPointerException")
    static int nullPointers(int n) {
        int before = NULLS.number;
        for (int i = 0; i < n; i++) {
            try {
                Sink.sink = nothing.length();
            } catch (NullPointerException e) {
                NULLS.count(e);
            }
        }
        return NULLS.number - before;
    }

    @Makes("java.lang.ArrayIndexOutOfBoundsException")
    static int indices(int n) {
        int before = INDICES.number;
        for (int i = 0; i < n; i++) {
            try {
                Sink.sink = NONE[i];
            } catch (ArrayIndexOutOfBoundsException e) {
                INDICES.count(e);
            }
        }
        return INDICES.number - before;
    }

    @Makes("java.lang.ArithmeticException")
    static int divisions(int n) {
        int before = DIVISIONS.number;
        for (int i = 0; i < n; i++) {
            try {
                zero = i / zero;
            } catch (ArithmeticException e) {
                DIVISIONS.count(e);
            }
        }
        return DIVISIONS.number - before;
    }

    @Makes("java.lang.ClassCastException")
    static int casts(int n) {
        int before = CASTS.number;
        for (int i = 0; i < n; i++) {
            try {
                Sink.sink = (Integer) text;
            } catch (ClassCastException e) {
                CASTS.count(e);
            }
        }
        return CASTS.number - before;
    }

    @Makes("java.lang.ArrayStoreException")
    static int stores(int n) {
        int before = STORES.number;
        for (int i = 0; i < n; i++) {
            try {
                INTEGERS[0] = text;
            } catch (ArrayStoreException e) {
                STORES.count(e);
            }
        }
        return STORES.number - before;
    }

    @Makes("java.lang.NegativeArraySizeException")
    static int sizes(int n) {
        int before = SIZES.number;
        for (int i = 0; i < n; i++) {
            try {
                Sink.sink = new int[zero - 1];
            } catch (NegativeArraySizeException e) {
                SIZES.count(e);
            }
        }
        return SIZES.number - before;
    }
}
