package mechanisms;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** String concatenation as compilers for Java 8 write it, which C2 replaces as a whole. */
final class Chains {
    private Chains() {}

    @Makes({"java.lang.String", "java.lang.StringBuilder"})
    static void plus(int n) {
        String tail = String.valueOf(n);
        for (int i = 0; i < n; i++) {
            Sink.sink = "a" + tail + "b"; // site java.lang.StringBuilder
        }
    }

    @Makes({"java.lang.String", "java.lang.StringBuilder"})
    static void plusInt(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = "round " + i; // site java.lang.StringBuilder
        }
    }

    @Makes({"java.lang.String", "java.lang.StringBuilder"})
    static void byHand(int n) {
        String tail = String.valueOf(n);
        for (int i = 0; i < n; i++) {
            Sink.sink = new StringBuilder().append("x").append(tail).append(i).append('y') // site java.lang.StringBuilder
                    .toString();
        }
    }
}

/**
 * A way to allocate: a static method that takes the number of rounds. What each round makes is said by type names, with a
 * number in front where it is not one. A method that returns a number says how many rounds made it.
 *
 * <p>A line that allocates by bytecode of its own ends in {@code // site} and the same words.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface Makes {
    /** Such as {@code "int[]"} or {@code "2 java.lang.String"}. */
    String[] value();

    /** Of the rounds asked for, one in so many is made. */
    int oneIn() default 1;
}

/** Where objects go that must not be optimised away. */
final class Sink {
    static volatile Object sink;

    private Sink() {}
}
