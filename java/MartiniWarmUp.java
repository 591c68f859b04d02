package java.lang.management;

import javax.management.MBeanServer;
import javax.management.ObjectName;

/** Whether the JVM is warm, for those who ask by JMX. The agent registers it on a thread of its own, and only if it is asked to. */
final class MartiniWarmUp implements MartiniWarmUpMXBean {
    private static final String NAME = "martini:type=WarmUp";

    private MartiniWarmUp() {}

    static void register() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName(NAME);
        if (!server.isRegistered(name)) server.registerMBean(new MartiniWarmUp(), name);
    }

    private static native String state();

    private static native String reason();

    private static native long optimizedMethods();

    @Override
    public boolean isWarmedUp() {
        return "warm".equals(getState());
    }

    @Override
    public String getState() {
        String state = state();
        return state == null ? "unknown" : state;
    }

    @Override
    public String getReason() {
        String reason = reason();
        return reason == null ? "nothing watches the JVM now" : reason;
    }

    @Override
    public long getOptimizedMethods() {
        return optimizedMethods();
    }

    @Override
    public int getProcessors() {
        return Runtime.getRuntime().availableProcessors();
    }
}
