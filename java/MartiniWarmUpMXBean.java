package java.lang.management;

/** What the MXBean {@code martini:type=WarmUp} says ({@code ready=jmx}). */
public interface MartiniWarmUpMXBean {
    /** Whether the JVM is warm. */
    boolean isWarmedUp();

    /** {@code warm}, {@code compiling}, {@code settling}, {@code idle} or {@code never}; {@code unknown} if nothing watches it. */
    String getState();

    /** One sentence: why. */
    String getReason();

    /** Methods that C2 has compiled since the recording began; -1 without {@code warmup=on}. */
    long getOptimizedMethods();

    /** How many processors the JVM believes it has. */
    int getProcessors();
}
