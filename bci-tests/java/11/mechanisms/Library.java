package mechanisms;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** The class library at work: intrinsics that allocate, iterators, growth. */
final class Library {
    private static final BigInteger LARGE = BigInteger.ONE.shiftLeft(200).subtract(BigInteger.TEN);
    private static final BigInteger OTHER = BigInteger.ONE.shiftLeft(150).subtract(BigInteger.TEN);
    private static final List<String> LIST = new ArrayList<>(List.of("a", "b", "c"));

    private Library() {}

    /** C2 has an intrinsic for the product, which makes the array for it. */
    @Makes({"java.math.BigInteger", "int[]"})
    static void products(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = LARGE.multiply(OTHER);
        }
    }

    @Makes("java.math.BigInteger")
    static void squares(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = LARGE.multiply(LARGE);
        }
    }

    @Makes("java.util.ArrayList$Itr")
    static void iterators(int n) {
        for (int i = 0; i < n; i++) {
            for (String text : LIST) {
                Sink.sink = text;
            }
        }
    }

    @Makes({"java.util.ArrayList", "2 java.lang.Object[]"})
    static void growth(int n) {
        for (int i = 0; i < n; i++) {
            List<Object> list = new ArrayList<>(1); // site java.util.ArrayList
            list.add("a");
            list.add("b");
            Sink.sink = list;
        }
    }

    @Makes({"java.util.HashMap", "java.util.HashMap$Node", "java.util.HashMap$Node[]"})
    static void maps(int n) {
        for (int i = 0; i < n; i++) {
            Map<String, Object> map = new HashMap<>(); // site java.util.HashMap
            map.put("a", "b");
            Sink.sink = map;
        }
    }

    @Makes({"java.util.IdentityHashMap", "java.lang.Object[]"})
    static void identityMaps(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new IdentityHashMap<>(4); // site java.util.IdentityHashMap
        }
    }

    @Makes("int[]")
    static void streams(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = IntStream.range(0, 5).toArray();
        }
    }
}
