package hold;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;

/**
 * Runs another program and keeps the JVM from ending until a line comes in, so that its heap can be looked at when the
 * program is over, however it ended. Arguments: the main class and its arguments.
 */
public final class Main {
    /** The program may replace or close System.out. */
    private static final PrintStream OUT = new PrintStream(new FileOutputStream(FileDescriptor.out), true);

    private Main() {}

    /** Runs the program of the first argument. */
    public static void main(String[] args) throws Throwable {
        Runtime.getRuntime().addShutdownHook(new Thread(Main::hold, "hold"));
        try {
            Class.forName(args[0]).getMethod("main", String[].class)
                    .invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static void hold() {
        OUT.println("held");
        try {
            if (System.in.read() < 0) {
                OUT.println("nobody wanted to look");
            }
        } catch (IOException e) {
            OUT.println("held no longer: " + e);
        }
    }
}
