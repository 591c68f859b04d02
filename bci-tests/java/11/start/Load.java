package start;

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** Works until its standard input ends, and says at each question mark what the MXBean of the agent says: in a way that gets compiled, not at all, or with code that is new each time. */
public class Load {
    /** What is run; each class loader has its own. */
    public static class Work implements IntUnaryOperator {
        @Override
        public int applyAsInt(int rounds) {
            int sum = 0;
            for (int i = 0; i < rounds; i++) {
                sum = sum * 31 + Integer.toString(i).hashCode();
                sum ^= new ArrayList<>(List.of(i, sum)).hashCode();
            }
            return sum;
        }
    }

    /** Defines the work anew. */
    static class Anew extends ClassLoader {
        IntUnaryOperator work() throws Exception {
            try (InputStream in = Load.class.getResourceAsStream("Load$Work.class")) {
                byte[] bytes = in.readAllBytes();
                Class<?> made = defineClass("start.Load$Work", bytes, 0, bytes.length);
                return (IntUnaryOperator) made.getConstructor().newInstance();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Thread ender = new Thread(Load::waitForEnd);
        ender.start();
        System.out.println("runs");
        int sum = 0;
        IntUnaryOperator work = new Work();
        while (ender.isAlive()) {
            switch (args[0]) {
                case "warms":
                    sum += work.applyAsInt(3000);
                    Thread.sleep(1);
                    break;
                case "idles":
                    ender.join();
                    break;
                default:
                    sum += new Anew().work().applyAsInt(200_000);
            }
        }
        System.out.println("result " + sum);
    }

    /** What the agent's MXBean says. */
    private static String bean() throws JMException {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("martini:type=WarmUp");
        if (!server.isRegistered(name)) return "none";
        StringBuilder text = new StringBuilder();
        for (String attribute : new String[] {"WarmedUp", "State", "OptimizedMethods", "Processors", "Reason"}) {
            text.append(server.getAttribute(name, attribute)).append(' ');
        }
        return text.toString();
    }

    private static void waitForEnd() {
        try {
            for (int read = System.in.read(); read >= 0; read = System.in.read()) {
                if (read == '?') System.out.println("bean " + bean());
            }
        } catch (IOException | JMException e) {
            throw new IllegalStateException(e);
        }
    }
}
