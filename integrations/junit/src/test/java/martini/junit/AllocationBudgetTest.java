package martini.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.testkit.engine.EngineTestKit;

class AllocationBudgetTest {
    private static final String IN_THE_JDK = "\\(in [\\w.$:]+\\)";

    static Object kept;

    @Test
    @AllocationBudget(objects = 0, bytes = 0)
    void nothing() {
        long sum = 0;
        for (int i = 0; i < 100_000; i++) {
            sum += i;
        }
        assertTrue(sum > 0);
    }

    /** Removed by the JIT or not: each is executed, and counts. */
    @Test
    @AllocationBudget(objects = 100_000, bytes = 1_600_000)
    void objectsThatTheJitRemoves() {
        int sum = 0;
        for (int i = 0; i < 100_000; i++) {
            sum += new Object() == null ? 1 : 0;
        }
        assertEquals(0, sum);
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 10, 10})
    @AllocationBudget(objects = 1, bytes = 56)
    void withParameters(int length) {
        kept = new int[length];
    }

    @Test
    @AllocationBudget(objects = 2, of = "byte[]", warmups = 20)
    void onlyOneClass() {
        kept = new Object[] {new byte[3], new Object(), new byte[4]};
    }

    @Test
    @AllocationBudget(objects = 1, in = "martini.junit.AllocationBudget*")
    void onlyOwnCode() {
        List<Object> list = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            list.add(kept);
        }
        kept = list;
    }

    @Test
    void codeIsCountedByItself() {
        Runnable body = () -> kept = new long[2][3];
        body.run();
        Allocations made = Allocations.during(body);
        assertEquals(3, made.objects(), made.toString());
        assertEquals(1, made.of("long[][]").objects(), made.toString());
        assertEquals(2 * 40, made.of("long[]").bytes(), made.toString());
        assertEquals(0, made.in("java.*").objects(), made.toString());
    }

    @Test
    void whatIsCountedInsideOfACountNamesItsLine() {
        Allocations made = Allocations.during(() -> {
            kept = Short.valueOf((short) 2000);
            Allocations inside = Allocations.during(() -> kept = Short.valueOf((short) 1000)).in("java.lang.Short");
            assertEquals(1, inside.objects(), inside.toString());
        }).in("java.lang.Short");
        String line = "\n  1 java.lang.Short (16 bytes) at martini.junit.AllocationBudgetTest.lambda (in the JDK)";
        assertEquals("allocated 2 objects (32 bytes)" + line + line,
                made.toString().replaceAll("lambda\\S+", "lambda").replaceAll(IN_THE_JDK, "(in the JDK)"));
    }

    @Test
    void whatExceedsItsBudgetFails() {
        assertEquals(List.of(
                "bytesTooMany: allocated 1 objects (56 bytes)\n  1 int[] (56 bytes) at martini.junit.TooMany.bytesTooMany:27\nmore than the budget of 55 bytes",
                "inAnotherClass: allocated 1 objects (16 bytes)\n"
                        + "  1 java.lang.Integer (16 bytes) at martini.junit.Helper.box:61 (in the JDK), from martini.junit.TooMany.inAnotherClass:39\n"
                        + "more than the budget of 0 objects",
                "inTheJdk: allocated 1 objects (24 bytes)\n"
                        + "  1 java.lang.String (24 bytes) at martini.junit.TooMany.inTheJdk:33 (in the JDK)\n"
                        + "more than the budget of 0 objects",
                "noLimit: @AllocationBudget has no limit; give it objects or bytes, such as objects = 0",
                "oneTooMany: allocated 3 objects (48 bytes)\n  3 java.lang.Object (48 bytes) at martini.junit.TooMany.oneTooMany:19\nmore than the budget of 2 objects",
                "own: of the test itself",
                "soManyThatStacksEnd: allocated 150000 objects (2400000 bytes)\n"
                        + "  100,000 java.lang.Integer (1,600,000 bytes) at martini.junit.TooMany.soManyThatStacksEnd:45 (in the JDK)\n"
                        + "  50,000 java.lang.Integer (800,000 bytes) at java.lang.Integer.valueOf (called from a line that is not known)\n"
                        + "more than the budget of 0 objects"),
                failures(TooMany.class));
    }

    private static List<String> failures(Class<?> tests) {
        return EngineTestKit.engine("junit-jupiter").selectors(selectClass(tests)).execute().testEvents().failed().stream()
                .map(event -> {
                    Optional<String> message = event.getPayload(org.junit.platform.engine.TestExecutionResult.class)
                            .flatMap(result -> result.getThrowable()).map(Throwable::getMessage);
                    return event.getTestDescriptor().getDisplayName().replace("()", "") + ": " + message.orElse("").replaceAll(IN_THE_JDK, "(in the JDK)").replaceAll("(Integer.valueOf)[:\\d]*", "$1");
                })
                .sorted()
                .collect(Collectors.toList());
    }
}
