import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.util.Arrays;

/** Runs {@code static int run(int, int)} of each class file in a folder, and prints what each call gave. */
public final class RunMade {
    private static final int[][] ARGUMENTS = {{0, 1}, {1, 0}, {7, -1}, {40, 12345}, {200, Integer.MIN_VALUE}};

    private RunMade() {}

    private static final class Loader extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    public static void main(String[] args) throws Exception {
        File[] files = new File(args[0]).listFiles();
        Arrays.sort(files);
        for (File file : files) {
            String name = file.getName();
            try {
                Class<?> made = new Loader().define(Files.readAllBytes(file.toPath()));
                Method run = made.getMethod("run", int.class, int.class);
                for (int[] two : ARGUMENTS) {
                    System.out.println(name + " " + Arrays.toString(two) + " " + result(run, two));
                }
            } catch (LinkageError e) {
                System.out.println(name + " " + e.getClass().getName() + " " + e.getMessage().split("\n")[0]);
            }
        }
        System.out.println("news " + Class.forName("java.lang.MartiniProbe").getField("news").getLong(null));
    }

    private static String result(Method run, int[] two) throws IllegalAccessException {
        try {
            return run.invoke(null, two[0], two[1]).toString();
        } catch (InvocationTargetException e) {
            return e.getCause().getClass().getName();
        }
    }
}
