package mechanisms;

import com.sun.management.ThreadMXBean;
import java.lang.invoke.CallSite;
import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Performs every mechanism on a thread of its own, named after it, and prints how often and what the JVM accounted to the
 * thread. Arguments: rounds, and optionally the only mechanisms to perform.
 */
public final class Main {
    /** Opens a window in the trace. */
    static final class Begin {}

    /** Closes a window. */
    static final class End {}

    /** Rounds before the window, in which classes are loaded, call sites linked and accessors generated. */
    private static final int WARM_UP = 500;

    /** Rounds per call, so that each method is compiled as a whole, not only its loop. */
    private static final int CHUNK = 1000;

    private static final Class<?>[] CLASSES = {
        Boxes.class, Chains.class, Clones.class, Concatenations.class, Copies.class, Faults.class, Grids.class,
        Handles.class, HiddenClasses.class, Instances.class, Library.class, Natives.class, NewArrays.class,
        Reflected.class, Serial.class, Strings.class,
    };

    private static final ThreadMXBean ACCOUNTS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final Class<?>[] MARKERS = {Begin.class, End.class};

    private static Throwable failure;

    private Main() {}

    /** Performs all mechanisms, or those named. */
    public static void main(String[] args) throws Throwable {
        int rounds = Integer.parseInt(args[0]);
        List<String> only = Arrays.asList(args).subList(1, args.length);
        // So that the mechanisms find the classes of the accounting loaded.
        ACCOUNTS.getThreadAllocatedBytes(Thread.currentThread().getId());
        for (Class<?> group : CLASSES) {
            Method[] methods = group.getDeclaredMethods();
            Arrays.sort(methods, Comparator.comparing(Method::getName));
            for (Method method : methods) {
                Makes makes = method.getAnnotation(Makes.class);
                String name = group.getSimpleName() + "." + method.getName();
                if (makes != null && (only.isEmpty() || only.contains(name))) {
                    perform(name, makes, method, rounds);
                }
            }
        }
        System.out.println("done");
    }

    private static void perform(String name, Makes makes, Method method, int rounds) throws Throwable {
        Performance performance = new Performance(mechanism(method), rounds / makes.oneIn(), makes.oneIn());
        Thread thread = new Thread(performance, name);
        thread.start();
        thread.join();
        if (failure != null) {
            throw failure;
        }
        StringBuilder lines = new StringBuilder();
        lines.append("mechanism\t").append(name).append('\t').append(performance.made).append('\t')
                .append(performance.madeBefore).append('\t').append(performance.accounted).append('\n');
        for (String made : makes.value()) {
            String[] words = made.split(" ");
            lines.append("makes\t").append(words.length == 1 ? "1" : words[0]).append('\t')
                    .append(words[words.length - 1]).append('\n');
        }
        System.out.print(lines);
    }

    /** A mechanism; {@link LambdaMetafactory} makes one of a method, so that calling it allocates nothing. */
    interface Mechanism {
        /** Performs so many rounds. */
        void perform(int n) throws Throwable;
    }

    /** One that says itself how many rounds made something. */
    interface CountedMechanism {
        /** Performs so many rounds and returns how many made something. */
        int perform(int n) throws Throwable;
    }

    private static Object mechanism(Method method) throws Throwable {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodHandle handle = lookup.unreflect(method);
        Class<?> type = method.getReturnType() == int.class ? CountedMechanism.class : Mechanism.class;
        CallSite site = LambdaMetafactory.metafactory(lookup, "perform", MethodType.methodType(type), handle.type(),
                handle, handle.type());
        return site.getTarget().invoke();
    }

    private static final class Performance implements Runnable {
        private final Object mechanism;
        private final int rounds;
        private final int oneIn;

        /** Rounds that made what they should, in the window and before it. */
        long made;
        long madeBefore;

        /** What the JVM accounted to the thread in the window, markers included. */
        long accounted;

        Performance(Object mechanism, int rounds, int oneIn) {
            this.mechanism = mechanism;
            this.rounds = rounds;
            this.oneIn = oneIn;
        }

        @Override
        public void run() {
            try {
                long thread = Thread.currentThread().getId();
                int warmUp = Math.max(1, WARM_UP / oneIn);
                madeBefore = make(warmUp);
                accounted = ACCOUNTS.getThreadAllocatedBytes(thread);
                long before = ACCOUNTS.getThreadAllocatedBytes(thread);
                Sink.sink = new Begin();
                long all = 0;
                for (int left = rounds; left > 0; left -= CHUNK) {
                    all += make(Math.min(left, CHUNK));
                }
                Sink.sink = new End();
                accounted = ACCOUNTS.getThreadAllocatedBytes(thread) - before;
                made = all;
            } catch (Throwable e) {
                failure = e;
            }
        }

        private long make(int n) throws Throwable {
            if (mechanism instanceof CountedMechanism) {
                return ((CountedMechanism) mechanism).perform(n);
            }
            ((Mechanism) mechanism).perform(n);
            return n;
        }
    }
}
