package mechanisms;

import java.io.File;
import java.util.concurrent.Callable;

/** Objects made by native code, of the class library and of the JVM. */
final class Natives {
    private static final File FOLDER = new File("/proc/sys/kernel/random");
    private static final Object LOCAL = local();

    private Natives() {}

    private static Object local() {
        class Local implements Callable<Object> {
            @Override
            public Object call() {
                return null;
            }
        }
        return new Local();
    }

    /** JNI's NewString. */
    @Makes("java.lang.String")
    static void strings(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = System.mapLibraryName("x");
        }
    }

    /** JNI's NewObjectArray and NewString; a file system without blocks makes it quick. */
    @Makes(value = "2 java.lang.String[]", oneIn = 20)
    static void folders(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = FOLDER.list();
        }
    }

    /** An array that the JVM makes itself. */
    @Makes("java.lang.Object[]")
    static void enclosingMethods(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = LOCAL.getClass().getEnclosingMethod();
        }
    }

    @Makes(value = "java.lang.StackTraceElement[]", oneIn = 20)
    static void stackTraces(int n) {
        for (int i = 0; i < n; i++) {
            Sink.sink = new Throwable().getStackTrace().length;
        }
    }
}
