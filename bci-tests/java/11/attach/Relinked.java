package attach;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.instrument.Instrumentation;

/** An agent written in Java retransforms a class that is loaded and not linked yet. Needs {@code -javaagent}. */
public final class Relinked {
    static class Plain {}

    private static Instrumentation instrumentation;

    private Relinked() {}

    public static void premain(String args, Instrumentation given) {
        instrumentation = given;
    }

    public static void main(String[] args) throws Exception {
        // This loads the class, and does not link it.
        Class<?> plain = Plain.class;
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            instrumentation.retransformClasses(plain);
            System.out.println("retransformed");
        }
        System.out.println("right");
    }
}
