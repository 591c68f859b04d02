package seen;

import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;

/**
 * Makes objects, gives the method that makes them other code on other lines while it runs, and makes objects again, several times.
 * Prints how many were made on which line.
 */
public final class Relined {
    private static final int ROUNDS = 6;
    private static final int OBJECTS = 300;

    private static Instrumentation instrumentation;
    static volatile Object sink;
    static int line;

    private Relined() {}

    static final class Made {}

    static final class OneA {
        static void make() {
            line = new Throwable().getStackTrace()[0].getLineNumber() + 1;
            sink = new Made();
        }
    }

    static final class OneB {
        static void make() {
            sink = null;
            line = new Throwable().getStackTrace()[0].getLineNumber() + 2;
            line += 0;
            sink = new Made();
        }
    }

    public static void premain(String args, Instrumentation given) {
        instrumentation = given;
    }

    /** The class file of one with the name of the other, which is as long. */
    private static byte[] file(String name) throws Exception {
        try (InputStream in = Relined.class.getResourceAsStream("Relined$" + name + ".class")) {
            String text = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            return text.replace("Relined$" + name, "Relined$OneA").getBytes(StandardCharsets.ISO_8859_1);
        }
    }

    public static void main(String[] args) throws Exception {
        byte[][] versions = {file("OneA"), file("OneB")};
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < OBJECTS; i++) {
                OneA.make();
            }
            System.out.println(line + " " + OBJECTS);
            instrumentation.redefineClasses(new ClassDefinition(OneA.class, versions[(round + 1) % 2]));
        }
    }
}
