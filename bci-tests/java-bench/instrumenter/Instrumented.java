import com.google.monitoring.runtime.instrumentation.AllocationRecorder;
import com.google.monitoring.runtime.instrumentation.Sampler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Runs another program's main class under Google's allocation instrumenter, with the least that a profiler has to do in its
 * callback: count instances and bytes, for each thread on its own.
 *
 * <p>Arguments: a file for the sums at the end, the main class, its arguments. The instrumenter itself is given as
 * {@code -javaagent}.
 */
public final class Instrumented implements Sampler {
    /** Instances and bytes of each thread that has allocated. */
    private final List<long[]> all = new CopyOnWriteArrayList<>();

    private final ThreadLocal<long[]> own = ThreadLocal.withInitial(() -> {
        long[] sums = new long[2];
        all.add(sums);
        return sums;
    });

    @Override
    public void sampleAllocation(int count, String className, Object object, long size) {
        long[] sums = own.get();
        sums[0]++;
        sums[1] += size;
    }

    private String sums() {
        long instances = 0;
        long bytes = 0;
        for (long[] sums : all) {
            instances += sums[0];
            bytes += sums[1];
        }
        return "counted=" + instances + "\ncounted_bytes=" + bytes + "\n";
    }

    public static void main(String[] args) throws Throwable {
        Path file = Path.of(args[0]);
        Instrumented sampler = new Instrumented();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            AllocationRecorder.removeSampler(sampler);
            try {
                Files.writeString(file, sampler.sums());
            } catch (IOException e) {
                // The benchmark sees that the file is not there.
                e.printStackTrace();
            }
        }));
        AllocationRecorder.addSampler(sampler);
        Class.forName(args[1])
                .getMethod("main", String[].class)
                .invoke(null, (Object) Arrays.copyOfRange(args, 2, args.length));
    }
}
