package recompiled;

import java.io.InputStream;
import java.lang.management.ManagementFactory;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Has classes unloaded by collections that the JVM reports to nobody, those in front of a histogram of classes, so that new classes come
 * to lie where others were.
 */
public final class Unloaded {
    private Unloaded() {}

    public static void main(String[] args) throws Exception {
        byte[] code;
        try (InputStream in = Unloaded.class.getResourceAsStream("Small.class")) {
            code = in.readAllBytes();
        }
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
        for (int round = Integer.parseInt(args[0]); round > 0; round--) {
            for (int i = 0; i < 20; i++) {
                Runnable loaded = Main.load(code);
                for (int run = 0; run < 3; run++) loaded.run();
            }
            server.invoke(commands, "gcClassHistogram", new Object[] {null}, new String[] {String[].class.getName()});
        }
    }
}
