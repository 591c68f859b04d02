package java.lang;

import jdk.internal.vm.annotation.DontInline;

/**
 * The side of the heap profiler that runs inside the profiled JVM (the HeapProxy of the TPTP Martini design).
 *
 * <p>The agent defines it from bytes at VMStart, in package java.lang and the boot loader, so that every class
 * can call it whatever its loader or module. Rewritten code passes each new object to one of the
 * {@code *Alloc} methods. They look up its class here, so a class that is filtered out costs no native call.
 *
 * <p>Rules that keep it harmless: it is never rewritten itself; it runs no constructor; it calls nothing but
 * intrinsics and its own natives; nothing it throws reaches the program.
 */
public final class MartiniHeapProxy {
    /** False until VMInit; nothing is reported before. Classes loaded before VMInit call the early wrappers. */
    private static boolean jvmInit;

    /**
     * Open-addressing hash table from class to code. Slot 0 holds the {@code int[]} of codes, slot i + 1 the class
     * whose code is at i. One reference publishes keys and codes together, so readers need no lock.
     *
     * <p>A code is 0 while unknown. Otherwise bit 0 is set if the class may be unloaded: its entry is removed after each
     * collection, because the table would keep the class alive. code >> 1 is the agent's number of the class, negative
     * if the class is filtered out.
     */
    private static volatile Object[] table = newTable(1024);

    private static int used;
    private static int unloadable;

    /** The agent's numbers of the eight primitive array classes; 0 or below if filtered out or before VMInit. */
    private static int booleanArray, byteArray, charArray, shortArray, intArray, longArray, floatArray, doubleArray;

    /** Events that were not reported because the hook itself ran out of stack or memory; a lower bound. */
    private static int lost;

    static {
        registerNatives();
    }

    private MartiniHeapProxy() {}

    /** Binds the other natives. From JDK 17 on the VM prints a warning if that is done from outside this class. */
    private static native void registerNatives();

    private static native int classCode(Class<?> type, Object instance);

    private static native void objectAllocated(Object object, int number);

    private static native void arrayAllocated(Object array, int number, int length);

    private static native void objectMade(Object object, int number, boolean bare);

    // Called by classes that were loaded before VMInit.

    public static void earlyObjectAlloc(Object o) {
        if (jvmInit) objectAlloc(o);
    }

    public static void earlyArrayAlloc(boolean[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    public static void earlyArrayAlloc(byte[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    public static void earlyArrayAlloc(char[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    public static void earlyArrayAlloc(short[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    public static void earlyArrayAlloc(int[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    public static void earlyArrayAlloc(long[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    public static void earlyArrayAlloc(float[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    public static void earlyArrayAlloc(double[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    public static void earlyArrayAlloc(Object[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    public static void earlyMultiArrayAlloc(Object[] a) {
        if (jvmInit) multiArrayAlloc(a);
    }

    public static void earlyMade(Object o) {
        if (jvmInit) made(o);
    }

    public static void earlyMadeBare(Object o) {
        if (jvmInit) madeBare(o);
    }

    // Called by all other classes.

    public static void objectAlloc(Object o) {
        try {
            int number = number(o.getClass(), o);
            if (number > 0) objectAllocated(o, number);
        } catch (Throwable t) {
            lost++;
        }
    }

    public static void arrayAlloc(boolean[] a) {
        primitiveArray(a, booleanArray, a.length);
    }

    public static void arrayAlloc(byte[] a) {
        primitiveArray(a, byteArray, a.length);
    }

    public static void arrayAlloc(char[] a) {
        primitiveArray(a, charArray, a.length);
    }

    public static void arrayAlloc(short[] a) {
        primitiveArray(a, shortArray, a.length);
    }

    public static void arrayAlloc(int[] a) {
        primitiveArray(a, intArray, a.length);
    }

    public static void arrayAlloc(long[] a) {
        primitiveArray(a, longArray, a.length);
    }

    public static void arrayAlloc(float[] a) {
        primitiveArray(a, floatArray, a.length);
    }

    public static void arrayAlloc(double[] a) {
        primitiveArray(a, doubleArray, a.length);
    }

    public static void arrayAlloc(Object[] a) {
        try {
            int number = number(a.getClass(), a);
            if (number > 0) arrayAllocated(a, number, a.length);
        } catch (Throwable t) {
            lost++;
        }
    }

    /** The array that multianewarray made, and every array in it. A new array contains nothing else. */
    public static void multiArrayAlloc(Object[] a) {
        arrayAlloc(a);
        try {
            for (int i = 0; i < a.length; i++) {
                Object inner = a[i];
                if (inner == null) return;
                if (inner instanceof Object[]) multiArrayAlloc((Object[]) inner);
                else if (inner instanceof byte[]) arrayAlloc((byte[]) inner);
                else if (inner instanceof int[]) arrayAlloc((int[]) inner);
                else if (inner instanceof char[]) arrayAlloc((char[]) inner);
                else if (inner instanceof long[]) arrayAlloc((long[]) inner);
                else if (inner instanceof double[]) arrayAlloc((double[]) inner);
                else if (inner instanceof float[]) arrayAlloc((float[]) inner);
                else if (inner instanceof short[]) arrayAlloc((short[]) inner);
                else if (inner instanceof boolean[]) arrayAlloc((boolean[]) inner);
            }
        } catch (Throwable t) {
            lost++;
        }
    }

    /** The result of a call that the JIT may replace by an allocation of its own. */
    public static void made(Object o) {
        handOver(o, false);
    }

    /** The same, for an instance whose constructor has not run and may never run. */
    public static void madeBare(Object o) {
        handOver(o, true);
    }

    private static void handOver(Object o, boolean bare) {
        if (o == null) return;
        try {
            int number = number(o.getClass(), o);
            if (number > 0) objectMade(o, number, bare);
        } catch (Throwable t) {
            lost++;
        }
    }

    // Called by all classes if the VM itself reports allocations.

    /**
     * Does nothing. The JIT neither inlines it nor analyses it, so an object that is passed to it has to exist.
     * Without the annotation the JIT would inline it and remove the call, and the object with it.
     */
    @DontInline
    public static void keep(Object o) {}

    private static void primitiveArray(Object a, int number, int length) {
        if (number > 0) {
            try {
                arrayAllocated(a, number, length);
            } catch (Throwable t) {
                lost++;
            }
        }
    }

    static int number(Class<?> type, Object instance) {
        Object[] t = table;
        int[] codes = (int[]) t[0];
        int mask = codes.length - 1;
        int i = System.identityHashCode(type) & mask;
        Object key;
        while ((key = t[i + 1]) != type) {
            if (key == null) return resolve(type, instance);
            i = (i + 1) & mask;
        }
        int code = codes[i];
        // A reader may see the key before its code: writers and readers share no lock.
        return code != 0 ? code >> 1 : resolve(type, instance);
    }

    private static int resolve(Class<?> type, Object instance) {
        int code = classCode(type, instance);
        if (code != 0) enter(type, code);
        return code >> 1;
    }

    private static synchronized void enter(Class<?> type, int code) {
        Object[] t = table;
        if (used * 2 >= ((int[]) t[0]).length) t = rebuild(((int[]) t[0]).length * 2, false);
        put(t, type, code);
        table = t;
    }

    /** Removes classes that may be unloaded. The agent calls it after a collection. */
    private static synchronized void purge() {
        if (unloadable != 0) table = rebuild(((int[]) table[0]).length, true);
    }

    /** Forgets all classes; the agent calls it before another recording, which may report other classes. */
    private static synchronized void forget() {
        used = 0;
        unloadable = 0;
        table = newTable(1024);
    }

    private static Object[] rebuild(int size, boolean purge) {
        Object[] old = table;
        int[] codes = (int[]) old[0];
        Object[] t = newTable(size);
        used = 0;
        unloadable = 0;
        for (int i = 0; i < codes.length; i++) {
            if (old[i + 1] != null && !(purge && (codes[i] & 1) != 0)) put(t, old[i + 1], codes[i]);
        }
        return t;
    }

    private static void put(Object[] t, Object type, int code) {
        int[] codes = (int[]) t[0];
        int mask = codes.length - 1;
        int i = System.identityHashCode(type) & mask;
        while (t[i + 1] != null) {
            if (t[i + 1] == type) return;
            i = (i + 1) & mask;
        }
        codes[i] = code;
        t[i + 1] = type;
        used++;
        unloadable += code & 1;
    }

    private static Object[] newTable(int size) {
        Object[] t = new Object[size + 1];
        t[0] = new int[size];
        return t;
    }
}
