package seen;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;

/** Has the JVM load a class again and again while its code runs, as agents do that are switched on and off; prints what it made. */
public class Reloads {
    static Instrumentation instrumentation;

    public static void premain(String arguments, Instrumentation given) {
        instrumentation = given;
    }

    /** What is loaded again. */
    static class Reloaded {
        static Object sink;

        static void make(int number) {
            sink = new Made();
            sink = new Made[number & 7];
            Made[][] rows = new Made[2][3];
            sink = rows.clone();
        }
    }

    static class Made {}

    public static void main(String[] args) throws Exception {
        int times = Integer.parseInt(args[0]);
        // With it the JVM asks for the class file anew each time.
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(
                    ClassLoader loader, String name, Class<?> type, ProtectionDomain domain, byte[] classFile) {
                return null;
            }
        }, true);
        List<Thread> threads = new ArrayList<>();
        boolean[] done = {false};
        long[] made = new long[2];
        for (int i = 0; i < made.length; i++) {
            int own = i;
            threads.add(new Thread(() -> {
                boolean isDone = false;
                while (!isDone) {
                    synchronized (done) {
                        isDone = done[0];
                    }
                    for (int j = 0; j < 100; j++) Reloaded.make(j);
                    made[own] += 100;
                }
            }));
        }
        for (Thread thread : threads) thread.start();
        for (int i = 0; i < times; i++) instrumentation.retransformClasses(Reloaded.class);
        synchronized (done) {
            done[0] = true;
        }
        for (Thread thread : threads) thread.join();
        System.out.println("made " + (made[0] + made[1]));
    }
}
