package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;
import jdk.internal.vm.annotation.Stable;

/**
 * The side of {@code heap=counts} that runs inside the profiled JVM: a counter per allocation site and thread.
 *
 * <p>Rewritten code calls one of the hooks at each instruction that allocates, with the number of the site's first
 * counter. The hooks of {@code new} and of ordinary arrays do not get the object, so the JIT may still remove it; hooks for what
 * shows its class or length only when it is made get it, and keep no reference. The counters of a thread are native memory that
 * only this thread writes and that the agent may read at any time.
 *
 * <p>It is initialised when the first code with a hook runs, which may be the first code that the JVM runs at all. So its
 * initialiser needs no other class, and hooks do nothing until {@link #begin} is called.
 *
 * <p>The rules of {@link MartiniHeapProxy} hold: never rewritten, no constructor, nothing called but intrinsics and
 * natives, nothing thrown, no waiting, hidden. Hooks that do not get the object are not forced to be inlined: the JIT inlines hot hooks by itself, and
 * elsewhere the inlined code is larger than a call. The most frequent hooks have the name of a class file attribute, which saves one constant in each
 * class. The agent replaces {@code currentThread} by {@code currentCarrierThread} if the JVM
 * has it, so that a hundred thousand virtual threads need no more counters than the threads that carry them.
 */
public final class MartiniCounts {
    /**
     * A table in native memory: at a thread's number modulo {@link #THREADS} the address of its counters, or 0. Threads without
     * an address and threads that share an entry count by a native call. Set by the agent, like the numbers below.
     */
    private static final long COUNTERS = patched(0x4D61000000000020L);

    /** Entries; a power of two. */
    private static final long THREADS = 1 << 20;

    // Constants for the JIT as soon as they are set.
    /** Null before VMInit. */
    @Stable private static Unsafe U;

    @Stable private static long NUMBER;

    @Stable private static Class<?> BOOLEAN, BYTE, CHAR, SHORT, INT, FLOAT, LONG, DOUBLE;

    // Sizes of arrays, as constants for the JIT: bytes in front of the elements, by the width of an element. The agent replaces
    // these numbers in the class file by header, shift and alignment, a byte each: the class may be initialised before the VM
    // is ready for natives.
    private static final int HEADER_1 = patched(0x4D610001) & 0xFF;
    private static final int HEADER_2 = patched(0x4D610002) & 0xFF;
    private static final int HEADER_4 = patched(0x4D610004) & 0xFF;
    private static final int HEADER_8 = patched(0x4D610008) & 0xFF;
    private static final int HEADER_REFERENCES = patched(0x4D610000) & 0xFF;
    private static final int SHIFT_REFERENCES = patched(0x4D610000) >> 8 & 0xFF;
    private static final int ALIGNMENT = patched(0x4D610000) >> 16;

    /** Address of a table with a byte for each string constant: not 0 if it was used. Set by the agent. */
    private static final long CONSTANTS = patched(0x4D61000000000010L);

    /** Arrays up to this length are counted without a check whether they were made. */
    private static final int SMALL = 1 << 18;

    /** False before VMInit and after VMDeath. */
    private static boolean counting;

    /**
     * Open-addressing hash table of the counters of sites whose class is known only at run time: at 2i the site and the class's
     * number, at 2i + 1 the first counter. Entries are only added, so readers need no lock.
     */
    private static volatile long[] dynamic = new long[512];

    private static int dynamicUsed;

    /** Events that were not counted because the hook itself ran out of stack or memory; a lower bound. */
    private static int lost;

    private MartiniCounts() {}

    /** Prevents constant folding by javac: the agent replaces the argument. */
    @Hidden
    private static int patched(int value) {
        return value;
    }

    @Hidden
    private static long patched(long value) {
        return value;
    }

    /** Called before {@link #begin}, and before any native. The JVM warns if natives are not registered by a class of the JDK. */
    @Hidden
    private static void bind() {
        NUMBER = Unsafe.getUnsafe().objectFieldOffset(Thread.class, "tid");
        registerNatives();
    }

    /** Makes the hooks count. */
    @Hidden
    private static void begin() {
        U = Unsafe.getUnsafe();
        // The constants `byte.class` and so on would initialise the classes of boxes.
        BOOLEAN = boolean[].class.getComponentType();
        BYTE = byte[].class.getComponentType();
        CHAR = char[].class.getComponentType();
        SHORT = short[].class.getComponentType();
        INT = int[].class.getComponentType();
        FLOAT = float[].class.getComponentType();
        LONG = long[].class.getComponentType();
        DOUBLE = double[].class.getComponentType();
        counting = true;
    }

    /** Binds the other natives. */
    @Hidden
    private static native void registerNatives();

    /** Resolves a string constant and counts its string, unless the VM has it already. */
    @Hidden
    private static native void useConstant(int number);

    /** Counts on a thread without counters of its own, and gives it counters if possible. */
    @Hidden
    private static native void count(int counter, long thread, long bytes);

    /** Counts an array that may not fit into the heap. The agent checks later whether it was made, and corrects the count. */
    @Hidden
    private static native void countLarge(int counter, long thread, long bytes);

    /**
     * Adds counters for a class at a site where it was not seen before. Returns the value for {@link #dynamic}, or 0. A value
     * below 0 means that the site does not make objects of this class.
     */
    @Hidden
    private static native long counters(int site, int number, Class<?> type);

    /** The class file of a hidden class with hooks, or null if it needs none. It is found by the loader of its host. */
    @Hidden
    private static native byte[] rewritten(Class<?> host, byte[] classFile);

    /** Remembers how many classes had begun to load: what they make is no object of the native method. */
    @Hidden
    private static native void noteCall();

    /** Counts an object that the VM made, by its class. */
    @Hidden
    private static native void countArgument(Object o);

    /** Remembers how many bytes the JVM accounts to this thread. */
    @Hidden
    private static native void accountBegins();

    /** Counts what the JVM has accounted to this thread since then. */
    @Hidden
    private static native void accountEnds(int counter, long thread);

    /** A class file that is passed to the VM. This is the only place where the agent sees hidden classes. */
    @Hidden
    public static byte[] hidden(Class<?> host, byte[] classFile, int flags) {
        if ((flags & 2) == 0 || classFile == null || !counting) return classFile;
        try {
            byte[] rewritten = rewritten(host, classFile);
            return rewritten == null ? classFile : rewritten;
        } catch (Throwable t) {
            lost++;
            return classFile;
        }
    }

    /** Replaces an archived hidden class, whose code does not count, by null. */
    @Hidden
    public static Class<?> notArchived(Class<?> archived) {
        return null;
    }

    /** A string constant is about to be used. */
    @Hidden
    public static void constant(int number) {
        if (U != null && U.getByte(null, CONSTANTS + number) == 0) firstUse(number);
    }

    @DontInline
    @Hidden
    private static void firstUse(int number) {
        if (counting) {
            try {
                useConstant(number);
            } catch (Throwable t) {
                lost++;
            }
        }
    }

    /** A native method is about to be called whose objects the VM reports and that may run Java code. */
    @Hidden
    public static void nativeCall() {
        if (counting) {
            try {
                noteCall();
            } catch (Throwable t) {
                lost++;
            }
        }
    }

    /** The VM calls a method with an object that it made for this call. */
    @Hidden
    public static void argument(Object o) {
        if (counting && o != null) {
            try {
                countArgument(o);
            } catch (Throwable t) {
                lost++;
            }
        }
    }

    /** The same for an array; other objects existed before the call. */
    @Hidden
    public static void arrayArgument(Object o) {
        if (o instanceof Object[]) argument(o);
    }

    /** The VM is about to make objects that no hook and no event reports. */
    @Hidden
    public static void vmBegin() {
        if (counting) {
            try {
                accountBegins();
            } catch (Throwable t) {
                lost++;
            }
        }
    }

    /** The VM has made them. */
    @Hidden
    public static void vmEnd(int counter) {
        if (counting) {
            try {
                accountEnds(counter, U.getLong(Thread.currentThread(), NUMBER));
            } catch (Throwable t) {
                lost++;
            }
        }
    }

    /**
     * {@code new}. Called in front of it, as for ordinary arrays: behind it the JIT would not see that the constructor fills the
     * new memory, and would clear it first. Only for string builders it is called behind. An allocation that fails is counted too; see {@link #countLarge}.
     *
     * <p>The other branch is hardly ever taken, so the JIT does not compile it. A compiled call, even one that never runs, would
     * discard what the JIT knows about memory around each site.
     */
    @Hidden
    public static void Code(int counter) {
        if (U == null) return;
        long first = U.getLong(null, COUNTERS + (U.getLong(Thread.currentThread(), NUMBER) << 3 & 8 * THREADS - 8));
        if (first != 0) {
            long at = first + ((long) counter << 3);
            U.putLong(null, at, U.getLong(null, at) + 1);
            return;
        }
        slow(counter, 0);
    }

    @Hidden
    private static void arrays(long arrays, long bytes, int counter) {
        if (U == null) return;
        bytes = bytes + ALIGNMENT - 1 & -ALIGNMENT;
        long first = U.getLong(null, COUNTERS + (U.getLong(Thread.currentThread(), NUMBER) << 3 & 8 * THREADS - 8));
        if (first != 0) {
            long at = first + ((long) counter << 3);
            U.putLong(null, at, U.getLong(null, at) + arrays);
            U.putLong(null, at + 8, U.getLong(null, at + 8) + arrays * bytes);
            return;
        }
        for (; arrays > 0; arrays--) slow(counter, bytes);
    }

    @DontInline
    @Hidden
    private static void slow(int counter, long bytes) {
        if (counting) {
            try {
                count(counter, U.getLong(Thread.currentThread(), NUMBER), bytes);
            } catch (Throwable t) {
                lost++;
            }
        }
    }

    /** An array of {@code boolean} or {@code byte}. */
    @Hidden
    public static void array1(int length, int counter) {
        long bytes = HEADER_1 + (long) length;
        if (length < 0 || length > SMALL) large(length, bytes, counter);
        else arrays(1, bytes, counter);
    }

    /** An array of {@code char} or {@code short}. */
    @Hidden
    public static void array2(int length, int counter) {
        long bytes = HEADER_2 + ((long) length << 1);
        if (length < 0 || length > SMALL) large(length, bytes, counter);
        else arrays(1, bytes, counter);
    }

    /** An array of {@code int} or {@code float}. */
    @Hidden
    public static void array4(int length, int counter) {
        long bytes = HEADER_4 + ((long) length << 2);
        if (length < 0 || length > SMALL) large(length, bytes, counter);
        else arrays(1, bytes, counter);
    }

    /** An array of {@code long} or {@code double}. */
    @Hidden
    public static void array8(int length, int counter) {
        long bytes = HEADER_8 + ((long) length << 3);
        if (length < 0 || length > SMALL) large(length, bytes, counter);
        else arrays(1, bytes, counter);
    }

    /** An array of references. */
    @Hidden
    public static void Code(int length, int counter) {
        long bytes = HEADER_REFERENCES + ((long) length << SHIFT_REFERENCES);
        if (length < 0 || length > SMALL) large(length, bytes, counter);
        else arrays(1, bytes, counter);
    }

    @DontInline
    @Hidden
    private static void large(int length, long bytes, int counter) {
        if (length >= 0 && counting) {
            try {
                countLarge(counter, U.getLong(Thread.currentThread(), NUMBER), bytes + ALIGNMENT - 1 & -ALIGNMENT);
            } catch (Throwable t) {
                lost++;
            }
        }
    }

    // Hooks that get the object. The JIT removes no object that is an argument of a call that it keeps, even if the call never runs. So
    // these are forced to be inlined, and pass on the class and the size only.

    /** The bytes of an array, not aligned; 0 for what is no array. Where the JIT knows the class, one of the lines is left. */
    @ForceInline
    @Hidden
    private static long bytes(Object o) {
        if (o instanceof byte[]) return HEADER_1 + (long) ((byte[]) o).length;
        if (o instanceof Object[]) return HEADER_REFERENCES + ((long) ((Object[]) o).length << SHIFT_REFERENCES);
        if (o instanceof int[]) return HEADER_4 + ((long) ((int[]) o).length << 2);
        if (o instanceof char[]) return HEADER_2 + ((long) ((char[]) o).length << 1);
        if (o instanceof long[]) return HEADER_8 + ((long) ((long[]) o).length << 3);
        if (o instanceof double[]) return HEADER_8 + ((long) ((double[]) o).length << 3);
        if (o instanceof boolean[]) return HEADER_1 + (long) ((boolean[]) o).length;
        if (o instanceof float[]) return HEADER_4 + ((long) ((float[]) o).length << 2);
        if (o instanceof short[]) return HEADER_2 + ((long) ((short[]) o).length << 1);
        return 0;
    }

    /**
     * The array that multianewarray made, and the arrays in it: one pair of counters for each level. New arrays contain nothing else,
     * and those of one level have the same length.
     */
    @ForceInline
    @Hidden
    public static void multi(Object[] a, int counter) {
        arrays(1, bytes(a), counter);
        Object second = a.length == 0 ? null : a[0];
        if (second == null) return;
        arrays(a.length, bytes(second), counter + 2);
        if (second instanceof Object[]) multi(a.length, (Object[]) second, counter + 4);
    }

    /** The third level and those in it. Of these the JIT removes none. */
    @Hidden
    private static void multi(long arrays, Object[] a, int counter) {
        arrays *= a.length;
        Object inner = a.length == 0 ? null : a[0];
        if (inner == null) return;
        arrays(arrays, bytes(inner), counter);
        if (inner instanceof Object[]) multi(arrays, (Object[]) inner, counter + 2);
    }

    /** A copy of an array without references. */
    @ForceInline
    @Hidden
    public static void primitives(Object a, int counter) {
        arrays(1, bytes(a), counter);
    }

    // The same for objects whose class is known only at run time, made by a method that the JIT may replace. Each kind has a hook of
    // its own: HotSpot does not inline a method whose own code has become large.

    /** An instance. */
    @ForceInline
    @Hidden
    public static void Code(Object o, int site) {
        if (o != null) made(o.getClass(), 0, site);
    }

    /** An array of references. */
    @ForceInline
    @Hidden
    public static void references(Object a, int site) {
        if (a instanceof Object[]) {
            made(a.getClass(), HEADER_REFERENCES + ((long) ((Object[]) a).length << SHIFT_REFERENCES), site);
        }
    }

    /** An instance of that class is about to be made. */
    @Hidden
    public static void bare(Class<?> type, int site) {
        if (type != null) made(type, 0, site);
    }

    /** An array of these primitives is about to be made; each class has a pair of counters. */
    @Hidden
    public static void uninitialized(Class<?> elements, int length, int counter) {
        if (elements == BYTE) array1(length, counter);
        else if (BYTE != null) others(elements, length, counter);
    }

    @Hidden
    private static void others(Class<?> elements, int length, int counter) {
        if (elements == BOOLEAN) array1(length, counter + 2);
        else if (elements == CHAR) array2(length, counter + 4);
        else if (elements == SHORT) array2(length, counter + 6);
        else if (elements == INT) array4(length, counter + 8);
        else if (elements == FLOAT) array4(length, counter + 10);
        else if (elements == LONG) array8(length, counter + 12);
        else if (elements == DOUBLE) array8(length, counter + 14);
    }

    /** An array or an instance. */
    @ForceInline
    @Hidden
    public static void any(Object o, int site) {
        if (o != null) made(o.getClass(), bytes(o), site);
    }

    /** Of an array the bytes; 0 for an instance. */
    @DontInline
    @Hidden
    private static void made(Class<?> type, long bytes, int site) {
        if (!counting) return;
        try {
            int number = MartiniHeapProxy.number(type, null);
            if (number <= 0) return;
            long[] t = dynamic;
            long key = (long) site << 32 | number;
            int i = start(key, t.length);
            while (t[i] != key) {
                if (t[i] == 0) {
                    newClass(key, type, bytes);
                    return;
                }
                i = i + 2 & t.length - 1;
            }
            U.loadFence();
            made(bytes, (int) t[i + 1]);
        } catch (Throwable t) {
            lost++;
        }
    }

    @DontInline
    @Hidden
    private static void newClass(long key, Class<?> type, long bytes) {
        long made = counters((int) (key >> 32), (int) key, type);
        if (made != 0) {
            enter(key, made);
            made(bytes, (int) made);
        }
    }

    @Hidden
    private static void made(long bytes, int counter) {
        if (counter < 0) return;
        if (bytes != 0) arrays(1, bytes, counter);
        else Code(counter);
    }

    /** As {@link #Code(Object, int)} for an array and the arrays in it, which are new too. */
    @Hidden
    public static void madeMulti(Object a, int site) {
        any(a, site);
        if (!(a instanceof Object[])) return;
        Object[] outer = (Object[]) a;
        for (int i = 0; i < outer.length && outer[i] != null; i++) madeMulti(outer[i], site);
    }

    /** The array of a product, unless it is the caller's own, which was large enough. */
    @ForceInline
    @Hidden
    public static void product(int[] product, int[] callersOwn, int counter) {
        if (product != callersOwn) arrays(1, bytes(product), counter);
    }

    @Hidden
    private static int start(long key, int length) {
        return (int) (key ^ key >>> 32) * 0x9E3779B9 >>> 8 << 1 & length - 1;
    }

    @Hidden
    private static void enter(long key, long counter) {
        // If another thread is entering one, the next object of this class is entered.
        if (!MartiniHeapProxy.beginChange()) return;
        try {
            long[] t = dynamic;
            if (2 * (dynamicUsed + 1) > t.length / 2) {
                long[] old = t;
                t = new long[2 * old.length];
                for (int i = 0; i < old.length; i += 2) {
                    if (old[i] != 0) put(t, old[i], old[i + 1]);
                }
                dynamic = t;
            }
            dynamicUsed++;
            put(t, key, counter);
        } finally {
            MartiniHeapProxy.endChange();
        }
    }

    @Hidden
    private static void put(long[] t, long key, long counter) {
        int i = start(key, t.length);
        while (t[i] != 0) {
            // Another thread has entered it first, with the same counter.
            if (t[i] == key) return;
            i = i + 2 & t.length - 1;
        }
        t[i + 1] = counter;
        // Readers take no lock: a reader that sees the key must see the counter.
        U.storeFence();
        t[i] = key;
    }
}
