package archived;

import java.io.IOException;
import java.util.jar.Attributes;
import java.util.jar.Manifest;

/**
 * Makes objects of classes that come out of the JDK's own CDS archive, where the call of their superclass may be resolved. With an
 * argument, waits for a line then.
 */
public final class Main {
    static final int TIMES = 10_000;

    static Object sink;

    private Main() {}

    public static void main(String[] arguments) throws IOException {
        for (int i = 0; i < TIMES; i++) sink = new Manifest();
        for (int i = 0; i < TIMES; i++) sink = new Attributes(1);
        if (arguments.length > 0) System.in.read();
    }
}
