package torture;

import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** A second agent, in Java, that redefines and retransforms classes while they run. Needs {@code -javaagent}. */
public final class Redefine {
    private static Instrumentation instrumentation;

    private Redefine() {}

    /** The agent's start. */
    public static void premain(String args, Instrumentation given) {
        instrumentation = given;
        instrumentation.addTransformer(new Copy(), true);
    }

    /** Hands out each class of the programs as it is, as an agent does that changes nothing of weight. */
    private static final class Copy implements ClassFileTransformer {
        @Override
        public byte[] transform(ClassLoader l, String name, Class<?> c, ProtectionDomain d, byte[] bytes) {
            return name != null && name.startsWith("torture/") ? bytes.clone() : null;
        }
    }

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        int rounds = Say.scaled(args, 80);
        AtomicBoolean done = new AtomicBoolean();
        Thread agent = new Thread(() -> {
            byte[] family = Fresh.read("torture.Family");
            byte[] plugin = Fresh.read("torture.Plugin");
            try {
                while (!done.get()) {
                    instrumentation.retransformClasses(Family.class, Plugin.class, String.class);
                    instrumentation.redefineClasses(new ClassDefinition(Family.class, family),
                            new ClassDefinition(Plugin.class, plugin));
                    Thread.sleep(3);
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, "redefiner");
        agent.start();
        AtomicLong checksum = new AtomicLong();
        Say.together(2, number -> {
            Family family = number == 0 ? new Family() : new Family.Child();
            for (int round = 0; round < rounds; round++) {
                checksum.addAndGet(Family.spin(family, 8_000));
            }
        });
        for (int round = 0; round < rounds; round++) {
            checksum.addAndGet(Plugin.work(100));
        }
        done.set(true);
        agent.join();
        Say.end(checksum.get(), rounds * (2 * 200L + 100));
    }
}
