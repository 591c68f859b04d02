package idioms;

import static idioms.Idiom.sink;

import java.util.*;
import java.util.concurrent.atomic.AtomicInteger;

/** Boxes, strings, collections, exceptions. */
public final class Values {
    private static final List<Integer> NUMBERS = new ArrayList<>(List.of(1, 2, 3, 4));
    private static final Map<String, Integer> MAP = new HashMap<>(Map.of("a", 1, "b", 2, "c", 3));

    enum Colour { RED, GREEN, BLUE }

    public static Idiom[] all() {
        return new Idiom[] {
            new Idiom("boxed_int", Values::boxedInt),
            new Idiom("boxed_long_sum", Values::boxedLong),
            new Idiom("boxed_double", Values::boxedDouble),
            new Idiom("for_each_list", Values::forEachList),
            new Idiom("for_each_map", Values::forEachMap),
            new Idiom("for_each_immutable", Values::forEachImmutable),
            new Idiom("string_concat", Values::concat),
            new Idiom("string_concat_two", Values::concatTwo),
            new Idiom("string_builder", Values::builder),
            new Idiom("string_builder_numbers", Values::builderNumbers),
            new Idiom("string_buffer", Values::buffer),
            new Idiom("string_switch", Values::stringSwitch),
            new Idiom("enum_switch", Values::enumSwitch),
            new Idiom("enum_values", Values::enumValues),
            new Idiom("substring", Values::substring),
            new Idiom("string_of_int", Values::stringOfInt),
            new Idiom("wide_string", Values::wide),
            new Idiom("try_with_resources", Values::resources),
            new Idiom("inner_class", Values::inner),
            new Idiom("exception_without_stack", Values::stackless),
            new Idiom("exception_with_stack", Values::stackful),
            new Idiom("atomic", Values::atomic),
            new Idiom("pair_returned", Values::pair),
            new Idiom("synchronized_object", Values::locked),
            new Idiom("list_of_two", Values::listOf),
            new Idiom("object_in_object", Values::objectInObject),
            new Idiom("entry", Values::entry),
            new Idiom("cloned_object", Values::cloned),
            new Idiom("conditional_object", Values::conditional),
            new Idiom("generic_holder", Values::holder),
            new Idiom("two_classes_at_one_site", Values::twoClasses),
        };
    }

    private static void boxedInt(int n) {
        for (int i = 0; i < n; i++) {
            Integer k = i + 1000;
            Object o = k;
            sink += (Integer) o;
        }
    }

    private static void boxedLong(int n) {
        Long sum = 1L << 40;
        for (int i = 0; i < n; i++) {
            sum += i;
        }
        sink += sum;
    }

    private static void boxedDouble(int n) {
        for (int i = 0; i < n; i++) {
            Double d = i * 0.5;
            sink += d.intValue();
        }
    }

    private static void forEachList(int n) {
        for (int i = 0; i < n; i++) {
            for (Integer k : NUMBERS) sink += k;
        }
    }

    private static void forEachMap(int n) {
        for (int i = 0; i < n; i++) {
            for (Map.Entry<String, Integer> e : MAP.entrySet()) sink += e.getValue() + e.getKey().length();
        }
    }

    private static final List<String> FIXED = List.of("x", "y", "z");

    private static void forEachImmutable(int n) {
        for (int i = 0; i < n; i++) {
            for (String s : FIXED) sink += s.length();
        }
    }

    private static void concat(int n) {
        for (int i = 0; i < n; i++) {
            String s = "number " + (i & 7) + " of " + (n & 7);
            sink += s.length();
        }
    }

    private static void concatTwo(int n) {
        String a = "abc" + (n & 7), b = "def" + (n & 3);
        for (int i = 0; i < n; i++) {
            sink += (a + b).length();
        }
    }

    private static void builder(int n) {
        String a = "abc" + (n & 7), b = "def" + (n & 3);
        for (int i = 0; i < n; i++) {
            sink += new StringBuilder().append(a).append(b).append('x').toString().length();
        }
    }

    private static void builderNumbers(int n) {
        for (int i = 0; i < n; i++) {
            StringBuilder b = new StringBuilder(16);
            b.append(i & 7).append(',');
            sink += b.length();
        }
    }

    private static void buffer(int n) {
        for (int i = 0; i < n; i++) {
            StringBuffer b = new StringBuffer(16);
            b.append(i & 7).append(',');
            sink += b.length();
        }
    }

    private static final String[] NAMES = {"one", "two", "three"};

    private static void stringSwitch(int n) {
        for (int i = 0; i < n; i++) {
            Object o;
            switch (NAMES[i % 3]) {
                case "one": o = new int[] {1}; break;
                case "two": o = new int[] {1, 2}; break;
                default: o = new int[] {3};
            }
            sink += ((int[]) o).length;
        }
    }

    private static final Colour[] COLOURS = Colour.values();

    private static void enumSwitch(int n) {
        for (int i = 0; i < n; i++) {
            switch (COLOURS[i % 3]) {
                case RED: sink += new AtomicInteger(i).get(); break;
                case GREEN: sink += new Pair(i, 1).left; break;
                default: sink++;
            }
        }
    }

    private static void enumValues(int n) {
        for (int i = 0; i < n; i++) {
            for (Colour c : Colour.values()) sink += c.ordinal();
        }
    }

    private static void substring(int n) {
        String text = "a text of some length " + (n & 7);
        for (int i = 0; i < n; i++) {
            sink += text.substring(i & 7).length();
        }
    }

    private static void stringOfInt(int n) {
        for (int i = 0; i < n; i++) {
            sink += String.valueOf(i & 15).length();
        }
    }

    private static void wide(int n) {
        char[] chars = {'\u4e2d', 'b', 'c'};
        for (int i = 0; i < n; i++) {
            sink += new String(chars, 0, 3).length();
        }
    }

    static final class Resource implements AutoCloseable {
        private final int i;

        Resource(int i) {
            this.i = i;
        }

        @Override
        public void close() {
            sink += i;
        }
    }

    private static void resources(int n) {
        for (int i = 0; i < n; i++) {
            try (Resource r = new Resource(i)) {
                sink += r.i;
            }
        }
    }

    private final int base = 3;

    class Inner {
        final int k;

        Inner(int k) {
            this.k = k + base;
        }
    }

    private static void inner(int n) {
        for (int i = 0; i < n; i++) {
            Values outer = new Values();
            sink += outer.new Inner(i).k;
        }
    }

    static final class Signal extends RuntimeException {
        final int i;

        Signal(int i) {
            super(null, null, false, false);
            this.i = i;
        }
    }

    private static void stackless(int n) {
        for (int i = 0; i < n; i++) {
            try {
                throw new Signal(i);
            } catch (Signal s) {
                sink += s.i;
            }
        }
    }

    private static void stackful(int n) {
        for (int i = 0; i < n; i += 10) {
            try {
                throw new IllegalStateException();
            } catch (IllegalStateException s) {
                sink++;
            }
        }
    }

    private static void atomic(int n) {
        for (int i = 0; i < n; i++) {
            AtomicInteger a = new AtomicInteger(i);
            a.incrementAndGet();
            sink += a.get();
        }
    }

    static final class Pair implements Cloneable {
        int left;
        int right;

        Pair(int left, int right) {
            this.left = left;
            this.right = right;
        }

        Pair swapped() {
            return new Pair(right, left);
        }

        @Override
        public Pair clone() {
            try {
                return (Pair) super.clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private static void pair(int n) {
        for (int i = 0; i < n; i++) {
            sink += new Pair(i, 2).swapped().swapped().left;
        }
    }

    private static void locked(int n) {
        for (int i = 0; i < n; i++) {
            Object lock = new Object();
            synchronized (lock) {
                sink += i;
            }
        }
    }

    private static void listOf(int n) {
        for (int i = 0; i < n; i++) {
            sink += List.of(NAMES[0], NAMES[1]).get(i & 1).length();
        }
    }

    static final class Box {
        final Pair pair;

        Box(Pair pair) {
            this.pair = pair;
        }
    }

    private static void objectInObject(int n) {
        for (int i = 0; i < n; i++) {
            Pair pair = new Pair(i, 2);
            sink += new Box(pair).pair.left;
        }
    }

    private static void entry(int n) {
        for (int i = 0; i < n; i++) {
            sink += Map.entry(NAMES[0], NAMES[1]).getKey().length();
        }
    }

    private static void cloned(int n) {
        for (int i = 0; i < n; i++) {
            Pair p = new Pair(i, 1);
            sink += p.clone().left;
        }
    }

    private static void conditional(int n) {
        for (int i = 0; i < n; i++) {
            Pair p = null;
            if ((i & 3) == 0) p = new Pair(i, 1);
            if (p != null) sink += p.left;
        }
    }

    private static <T> T id(T t) {
        return t;
    }

    private static void holder(int n) {
        for (int i = 0; i < n; i++) {
            sink += id(new Pair(i, 3)).right;
        }
    }

    private static void twoClasses(int n) {
        for (int i = 0; i < n; i++) {
            Number k = (i & 1) == 0 ? (Number) Integer.valueOf(i + 1000) : (Number) Long.valueOf(i + 1000L);
            sink += k.intValue();
        }
    }
}
