package torture;

import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;

/** Runs one of the programs: its name, the size of its work in percent, and what else it wants to know. */
public final class Main {
    private Main() {}

    /** Says when it begins, so that nobody sends a signal to a JVM that does not listen yet. */
    public static void main(String[] args) throws Throwable {
        Say.line("begins");
        String[] rest = Arrays.copyOfRange(args, 1, args.length);
        try {
            Class.forName("torture." + args[0]).getMethod("main", String[].class).invoke(null, (Object) rest);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
