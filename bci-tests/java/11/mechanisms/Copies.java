package mechanisms;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

/** Arrays made by the class library whose kind is known only when it runs. */
final class Copies {
    static class A {}

    static class B {}

    static class C {}

    static class D {}

    static class E {}

    static class F {}

    static class G {}

    static class H {}

    static class I {}

    private static final A[] AS = new A[4];
    private static final B[] BS = new B[4];
    private static final C[] CS = new C[4];
    private static final D[] DS = new D[4];
    private static final A[] NO_AS = new A[0];
    private static final List<H> HS = new ArrayList<>(Collections.nCopies(3, new H()));
    private static final I[] IS = new I[3];
    private static final int[] DIMENSIONS = {2, 3};
    private static final int[] ONE_DIMENSION = {4};
    private static final int[] INTS = new int[5];
    private static final byte[] BYTES = new byte[5];

    private Copies() {}

    @Makes("mechanisms.Copies$A[]")
    static void copyOf(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = Arrays.copyOf(AS, 2 + (i & 3));
        }
    }

    @Makes("mechanisms.Copies$A[]")
    static void copyOfNothing(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = Arrays.copyOf(NO_AS, 0);
        }
    }

    @Makes("mechanisms.Copies$B[]")
    static void copyOfOtherType(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = Arrays.copyOf(BS, 5, B[].class); // site mechanisms.Copies$B[]
        }
    }

    @Makes("java.lang.Object[]")
    static void copyOfToObjects(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = Arrays.copyOf(BS, 5, Object[].class); // site java.lang.Object[]
        }
    }

    @Makes("mechanisms.Copies$C[]")
    static void copyOfRange(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = Arrays.copyOfRange(CS, 1, 3);
        }
    }

    @Makes("mechanisms.Copies$D[]")
    static void copyOfRangeOtherType(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = Arrays.copyOfRange(DS, 1, 6, D[].class); // site mechanisms.Copies$D[]
        }
    }

    @Makes("int[]")
    static void copyOfInts(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = Arrays.copyOf(INTS, 7);
        }
    }

    @Makes("byte[]")
    static void copyOfRangeBytes(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = Arrays.copyOfRange(BYTES, 1, 4);
        }
    }

    @Makes("mechanisms.Copies$E[]")
    static void newInstance(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = Array.newInstance(E.class, i & 7); // site mechanisms.Copies$E[]
        }
    }

    @Makes("int[]")
    static void newInstanceOfInts(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = Array.newInstance(int.class, 3); // site int[]
        }
    }

    @Makes({"mechanisms.Copies$F[][]", "2 mechanisms.Copies$F[]"})
    static void newInstanceMulti(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = Array.newInstance(F.class, DIMENSIONS); // site mechanisms.Copies$F[][], 2 mechanisms.Copies$F[]
        }
    }

    @Makes({"char[][]", "2 char[]"})
    static void newInstanceMultiOfChars(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = Array.newInstance(char.class, DIMENSIONS); // site char[][], 2 char[]
        }
    }

    @Makes("mechanisms.Copies$G[]")
    static void newInstanceMultiOfOne(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = Array.newInstance(G.class, ONE_DIMENSION); // site mechanisms.Copies$G[]
        }
    }

    @Makes("2 mechanisms.Copies$H[]")
    static void listToArray(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = HS.toArray(new H[0]); // site mechanisms.Copies$H[]
        }
    }

    @Makes("mechanisms.Copies$I[]")
    static void streamToArray(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = Stream.of(IS).toArray(I[]::new);
        }
    }

    @Makes("mechanisms.Copies$A[]")
    static void notEscaping(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += Arrays.copyOf(AS, 3).length;
        }
        if (sum == 1) {
            throw new AssertionError();
        }
    }
}
