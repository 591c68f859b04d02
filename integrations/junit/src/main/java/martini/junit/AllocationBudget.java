package martini.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.extension.ExtendWith;

/**
 * How much a test may allocate, on its own thread, when it runs once after some warm-up runs.
 *
 * <p>Every allocation that is executed counts, also one that the JIT removes: the number is the same in each run. Threads that the test
 * starts do not count. The JVM needs the agent of Martini with {@code heap=counts}; without it the test fails.
 */
@Documented
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(AllocationBudgetExtension.class)
public @interface AllocationBudget {
    /** No limit. */
    long UNLIMITED = Long.MAX_VALUE;

    /** The most objects. */
    long objects() default UNLIMITED;

    /** The most bytes. */
    long bytes() default UNLIMITED;

    /** How often the test's method runs before it is counted: what is done only once is done by then. */
    int warmups() default 5;

    /**
     * Only what the code of these classes allocates, such as {@code com.acme.*}; else what any code does on the test's behalf, that of
     * the JDK included. A {@code *} stands for any characters.
     */
    String[] in() default {};

    /** Only objects of these classes, such as {@code java.lang.String} or {@code byte[]}. */
    String[] of() default {};
}
