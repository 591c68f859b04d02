package java.lang;

import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.Hidden;

/**
 * The side of the heap profiler that runs inside the profiled JVM (the HeapProxy of the TPTP Martini design).
 *
 * <p>The agent defines it from bytes at VMStart, in package java.lang and the boot loader, so that every class
 * can call it whatever its loader or module. Rewritten code passes each new object to one of the
 * {@code *Alloc} methods. They look up its class here, so a class that is filtered out costs no native call.
 *
 * <p>Rules that keep it harmless: it is never rewritten itself; it runs no constructor; it calls nothing but
 * intrinsics and its own natives; nothing it throws reaches the program; it waits for no thread. Its methods are hidden: they are in no
 * stack trace that the program sees, that of a {@code StackOverflowError} included, for which a hook may be the method that finds no room.
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
    @Hidden
    private static native void registerNatives();

    @Hidden
    private static native int classCode(Class<?> type, Object instance);

    @Hidden
    private static native void objectAllocated(Object object, int number);

    @Hidden
    private static native void arrayAllocated(Object array, int number, int length);

    @Hidden
    private static native void objectMade(Object object, int number, boolean bare);

    /** Whether the current thread may change a table of the helper classes; then it calls {@link #endChange}. Nobody waits for it. */
    @Hidden
    static native boolean beginChange();

    @Hidden
    static native void endChange();

    // Called by classes that were loaded before VMInit.

    @Hidden
    public static void earlyObjectAlloc(Object o) {
        if (jvmInit) objectAlloc(o);
    }

    @Hidden
    public static void earlyArrayAlloc(boolean[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    @Hidden
    public static void earlyArrayAlloc(byte[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    @Hidden
    public static void earlyArrayAlloc(char[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    @Hidden
    public static void earlyArrayAlloc(short[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    @Hidden
    public static void earlyArrayAlloc(int[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    @Hidden
    public static void earlyArrayAlloc(long[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    @Hidden
    public static void earlyArrayAlloc(float[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    @Hidden
    public static void earlyArrayAlloc(double[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    @Hidden
    public static void earlyArrayAlloc(Object[] a) {
        if (jvmInit) arrayAlloc(a);
    }

    @Hidden
    public static void earlyMultiArrayAlloc(Object[] a) {
        if (jvmInit) multiArrayAlloc(a);
    }

    @Hidden
    public static void earlyMade(Object o) {
        if (jvmInit) made(o);
    }

    @Hidden
    public static void earlyMadeBare(Object o) {
        if (jvmInit) madeBare(o);
    }

    // Called by all other classes.

    @Hidden
    public static void objectAlloc(Object o) {
        try {
            int number = number(o.getClass(), o);
            if (number > 0) objectAllocated(o, number);
        } catch (Throwable t) {
            lost++;
        }
    }

    @Hidden
    public static void arrayAlloc(boolean[] a) {
        primitiveArray(a, booleanArray, a.length);
    }

    @Hidden
    public static void arrayAlloc(byte[] a) {
        primitiveArray(a, byteArray, a.length);
    }

    @Hidden
    public static void arrayAlloc(char[] a) {
        primitiveArray(a, charArray, a.length);
    }

    @Hidden
    public static void arrayAlloc(short[] a) {
        primitiveArray(a, shortArray, a.length);
    }

    @Hidden
    public static void arrayAlloc(int[] a) {
        primitiveArray(a, intArray, a.length);
    }

    @Hidden
    public static void arrayAlloc(long[] a) {
        primitiveArray(a, longArray, a.length);
    }

    @Hidden
    public static void arrayAlloc(float[] a) {
        primitiveArray(a, floatArray, a.length);
    }

    @Hidden
    public static void arrayAlloc(double[] a) {
        primitiveArray(a, doubleArray, a.length);
    }

    @Hidden
    public static void arrayAlloc(Object[] a) {
        try {
            int number = number(a.getClass(), a);
            if (number > 0) arrayAllocated(a, number, a.length);
        } catch (Throwable t) {
            lost++;
        }
    }

    /** The array that multianewarray made, and every array in it. A new array contains nothing else. */
    @Hidden
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
    @Hidden
    public static void made(Object o) {
        handOver(o, false);
    }

    /** The same, for an instance whose constructor has not run and may never run. */
    @Hidden
    public static void madeBare(Object o) {
        handOver(o, true);
    }

    @Hidden
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
    @Hidden
    public static void keep(Object o) {}

    @Hidden
    private static void primitiveArray(Object a, int number, int length) {
        if (number > 0) {
            try {
                arrayAllocated(a, number, length);
            } catch (Throwable t) {
                lost++;
            }
        }
    }

    @Hidden
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

    @Hidden
    private static int resolve(Class<?> type, Object instance) {
        int code = classCode(type, instance);
        if (code != 0) enter(type, code);
        return code >> 1;
    }

    /**
     * Only one thread changes the table at a time. Others do not wait for it, since a debugger may have suspended it: the next instance of
     * their class enters it.
     */
    @Hidden
    private static void enter(Class<?> type, int code) {
        if (!beginChange()) return;
        try {
            Object[] t = table;
            if (used * 2 >= ((int[]) t[0]).length) t = rebuild(((int[]) t[0]).length * 2, false);
            put(t, type, code);
            table = t;
        } finally {
            endChange();
        }
    }

    /** Removes classes that may be unloaded. The agent calls it after a collection. */
    @Hidden
    private static void purge() {
        if (unloadable == 0 || !beginChange()) return;
        try {
            table = rebuild(((int[]) table[0]).length, true);
        } finally {
            endChange();
        }
    }

    /** Forgets all classes; the agent calls it before another recording, which may report other classes, while nobody changes the table. */
    @Hidden
    private static void forget() {
        table = newTable(1024);
        used = 0;
        unloadable = 0;
    }

    /** What it throws where there is no stack or memory left changes nothing. */
    @Hidden
    private static Object[] rebuild(int size, boolean purge) {
        Object[] old = table;
        int[] codes = (int[]) old[0];
        Object[] t = newTable(size);
        int usedBefore = used, unloadableBefore = unloadable;
        boolean whole = false;
        used = 0;
        unloadable = 0;
        try {
            for (int i = 0; i < codes.length; i++) {
                if (old[i + 1] != null && !(purge && (codes[i] & 1) != 0)) put(t, old[i + 1], codes[i]);
            }
            whole = true;
        } finally {
            if (!whole) {
                used = usedBefore;
                unloadable = unloadableBefore;
            }
        }
        return t;
    }

    @Hidden
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

    @Hidden
    private static Object[] newTable(int size) {
        Object[] t = new Object[size + 1];
        t[0] = new int[size];
        return t;
    }
}
