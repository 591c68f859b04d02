package split;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Programs whose processor time is known by clocks: {@code Split PROGRAM PHASES}. A program has parts, each a class whose methods do
 * its work; one thread, "worker", executes them in phases of some 50 to 300 milliseconds, and reads the clock of its processor
 * time before and after each. Phases and their lengths follow from the number of phases alone: every run does the same work.
 *
 * <p>Prints {@code part.CLASS=NANOSECONDS}, {@code worker=NANOSECONDS} of the thread in all, and {@code threads.NAME=NANOSECONDS} of
 * the VM's threads with that in their names.
 */
public final class Split {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final String CARRIER = "ForkJoinPool-1-worker-1";
    /** Short phases before the others, in which the compilers get to know the parts. */
    private static final int WARMING = 12;

    private Split() {}

    public static void main(String[] args) throws Exception {
        Map<String, Part> parts = parts(args[0]);
        int phases = Integer.parseInt(args[1]);
        boolean isVirtual = args[0].equals("virtual");
        Runnable body = () -> run(parts, phases, isVirtual ? carrier() : THREADS::getCurrentThreadCpuTime, isVirtual);
        if (isVirtual) {
            virtual(body).join();
        } else {
            Thread worker = new Thread(body, "worker");
            worker.start();
            worker.join();
        }
        threads("GC Thread");
    }

    private static Map<String, Part> parts(String program) {
        switch (program) {
            case "loops":
                return Loops.parts();
            case "inlined":
            case "interpreted":
                return Inlined.parts();
            case "recursion":
                return Recursion.parts();
            case "exceptions":
                return Exceptions.parts();
            case "native":
                return Natives.parts();
            case "collected":
                return Collected.parts();
            case "strings":
                return Strings.parts();
            case "virtual":
                return Virtual.parts();
            default:
                throw new IllegalArgumentException(program);
        }
    }

    private static void run(Map<String, Part> parts, int phases, LongSupplier clock, boolean yields) {
        String[] names = parts.keySet().toArray(new String[0]);
        long[] nanos = new long[names.length];
        long random = 17;
        long sum = 0;
        for (int phase = -WARMING * names.length; phase < phases; phase++) {
            random = random * 6364136223846793005L + 1442695040888963407L;
            int index = Math.floorMod(phase, names.length);
            int chunks = phase < 0 ? 4 : 50 + (int) (random >>> 33) % 250;
            Part part = parts.get(names[index]);
            long begin = clock.getAsLong();
            sum += part.run(chunks);
            nanos[index] += clock.getAsLong() - begin;
            if (yields) {
                Thread.yield();
            }
        }
        for (int i = 0; i < names.length; i++) {
            System.out.println("part." + names[i] + "=" + nanos[i]);
        }
        System.out.println("sum=" + (sum & Long.MAX_VALUE));
        System.out.println("worker=" + clock.getAsLong());
    }

    /** The clock of the one thread that carries virtual threads, of which the JVM is made to have no more. */
    private static LongSupplier carrier() {
        for (long id : THREADS.getAllThreadIds()) {
            if (THREADS.getThreadInfo(id).getThreadName().equals(CARRIER)) {
                return () -> THREADS.getThreadCpuTime(id);
            }
        }
        throw new IllegalStateException("no thread " + CARRIER);
    }

    /** By reflection, since the other programs run on Java 11 too. */
    private static Thread virtual(Runnable body) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        builder = type.getMethod("name", String.class).invoke(builder, "worker");
        return (Thread) type.getMethod("start", Runnable.class).invoke(builder, body);
    }

    private static void threads(String name) throws IOException {
        long nanos = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Paths.get("/proc/self/task"))) {
            for (Path task : tasks) {
                nanos += nanos(task, name);
            }
        }
        System.out.println("threads." + name + "=" + nanos);
    }

    private static long nanos(Path task, String name) {
        try {
            boolean is = Files.readString(task.resolve("comm")).contains(name);
            return is ? Long.parseLong(Files.readString(task.resolve("schedstat")).split(" ")[0]) : 0;
        } catch (IOException e) {
            // It has ended since.
            return 0;
        }
    }

    /** A part's work: so many times about a millisecond. */
    interface Part {
        long run(int chunks);
    }

    static Map<String, Part> of(Class<?> first, Part one, Class<?> second, Part two) {
        Map<String, Part> parts = new LinkedHashMap<>();
        parts.put(first.getName(), one);
        parts.put(second.getName(), two);
        return parts;
    }
}
