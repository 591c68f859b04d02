package hostile;

import java.util.function.IntFunction;

/**
 * Compiled once and defined many times, under other names and as other class-file versions. It holds each kind of
 * allocation instruction, and branches so that its methods need stack maps; nothing in it is newer than Java 1.1.
 */
public final class Template implements IntFunction {
    private Object last;

    /** For the generator. */
    public Template() {}

    /** Allocates {@code n} instances of this class and five arrays for each. */
    @Override
    public Object apply(int n) {
        int i = 0;
        while (i < n) {
            Template made = new Template();
            try {
                if (i % 2 == 0) {
                    made.last = new Template[i % 3];
                } else {
                    made.last = new int[i % 5];
                }
                made.last = new long[2][1];
                if (i % 7 == 0) {
                    throw new IllegalStateException();
                }
            } catch (IllegalStateException e) {
                made.last = e;
            }
            made.last = new Template[1];
            last = made;
            i++;
        }
        return last;
    }
}
