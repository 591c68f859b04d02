package idioms;

import static idioms.Idiom.sink;

import java.lang.reflect.Array;
import java.util.Arrays;

/** Small arrays. */
public final class SmallArrays {
    public static Idiom[] all() {
        return new Idiom[] {
            new Idiom("small_array", SmallArrays::small),
            new Idiom("small_reference_array", SmallArrays::references),
            new Idiom("varargs_int", SmallArrays::varargs),
            new Idiom("varargs_objects", SmallArrays::objects),
            new Idiom("array_of_arrays", SmallArrays::nested),
            new Idiom("cloned_ints", SmallArrays::clonedInts),
            new Idiom("cloned_longs", SmallArrays::clonedLongs),
            new Idiom("cloned_references", SmallArrays::clonedReferences),
            new Idiom("cloned_new_array", SmallArrays::clonedNew),
            new Idiom("copy_of_ints", SmallArrays::copyOfInts),
            new Idiom("copy_of_references", SmallArrays::copyOfReferences),
            new Idiom("copy_of_range_references", SmallArrays::copyOfRange),
            new Idiom("copy_of_new_array", SmallArrays::copyOfNew),
            new Idiom("reflected_array", SmallArrays::reflected),
            new Idiom("as_list", SmallArrays::asList),
        };
    }

    private static void small(int n) {
        for (int i = 0; i < n; i++) {
            int[] a = {i, 2, 3};
            sink += a[0] + a[2];
        }
    }

    private static final String[] NAMES = {"one", "two", "three"};

    private static void references(int n) {
        for (int i = 0; i < n; i++) {
            String[] a = {NAMES[0], NAMES[1]};
            sink += a[0].length() + a.length;
        }
    }

    private static int sum(int... all) {
        int sum = 0;
        for (int i = 0; i < all.length; i++) sum += all[i];
        return sum;
    }

    private static void varargs(int n) {
        for (int i = 0; i < n; i++) sink += sum(i, 1, 2);
    }

    private static int count(Object... all) {
        return all.length;
    }

    private static void objects(int n) {
        for (int i = 0; i < n; i++) sink += count(i + 1000, "x", i + 1000L);
    }

    private static void nested(int n) {
        for (int i = 0; i < n; i++) {
            int[][] a = new int[2][2];
            a[1][1] = i;
            sink += a[1][1];
        }
    }

    private static final int[] INTS = {1, 2, 3, 4};
    private static final long[] LONGS = {1, 2, 3, 4};

    private static void clonedInts(int n) {
        for (int i = 0; i < n; i++) sink += INTS.clone()[i & 3];
    }

    private static void clonedLongs(int n) {
        for (int i = 0; i < n; i++) sink += LONGS.clone()[1];
    }

    private static void clonedReferences(int n) {
        for (int i = 0; i < n; i++) sink += NAMES.clone()[1].length();
    }

    private static void clonedNew(int n) {
        for (int i = 0; i < n; i++) {
            int[] a = {i, 2, 3};
            sink += a.clone()[0];
        }
    }

    private static void copyOfInts(int n) {
        for (int i = 0; i < n; i++) sink += Arrays.copyOf(INTS, 3)[1];
    }

    private static void copyOfReferences(int n) {
        for (int i = 0; i < n; i++) sink += Arrays.copyOf(NAMES, 2)[1].length();
    }

    private static void copyOfRange(int n) {
        for (int i = 0; i < n; i++) sink += Arrays.copyOfRange(NAMES, 1, 3)[1].length();
    }

    private static void copyOfNew(int n) {
        for (int i = 0; i < n; i++) {
            String[] a = {NAMES[0], NAMES[1]};
            sink += Arrays.copyOf(a, 2)[1].length();
        }
    }

    private static void reflected(int n) {
        for (int i = 0; i < n; i++) {
            sink += ((int[]) Array.newInstance(int.class, 3)).length;
        }
    }

    private static void asList(int n) {
        for (int i = 0; i < n; i++) {
            for (String s : Arrays.asList(NAMES[0], NAMES[1])) sink += s.length();
        }
    }
}
