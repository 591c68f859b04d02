package martini.junit;

import org.junit.jupiter.api.Test;

/** Tests that fail; {@link AllocationBudgetTest} runs them. */
class TooMany {
    static Object[] kept = new Object[3];

    @Test
    @AllocationBudget(objects = 3)
    void justEnough() {
        for (int i = 0; i < 3; i++) kept[i] = new Object();
    }

    @Test
    @AllocationBudget(objects = 2)
    void oneTooMany() {
        // One more than the budget.
        for (int i = 0; i < 3; i++) kept[i] = new Object();
    }

    @Test
    @AllocationBudget(bytes = 55)
    void bytesTooMany() {
        // 16 bytes in front of ten numbers.
        int length = 10;
        kept[0] = new int[length];
    }

    @Test
    @AllocationBudget(objects = 0, of = "java.lang.String")
    void inTheJdk() {
        kept[1] = "number " + kept.length;
    }

    @Test
    @AllocationBudget(objects = 0)
    void inAnotherClass() {
        kept[1] = Helper.box(1_000_000);
    }

    @Test
    @AllocationBudget(objects = 0)
    void soManyThatStacksEnd() {
        for (int i = 0; i < 150_000; i++) kept[2] = Integer.valueOf(1_000_000 + i);
    }

    @Test
    @AllocationBudget
    void noLimit() {}

    @Test
    @AllocationBudget(objects = 0)
    void own() {
        throw new IllegalStateException("of the test itself");
    }
}

class Helper {
    static Integer box(int value) {
        return Integer.valueOf(value);
    }
}
