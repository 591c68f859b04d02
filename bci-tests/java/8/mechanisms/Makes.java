package mechanisms;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

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
