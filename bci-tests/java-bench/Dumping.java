import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

import com.sun.management.HotSpotDiagnosticMXBean;

/**
 * Fills the heap, and has it dumped by the JVM and, if there is an agent, by that: how long each took, how long the program stood
 * still, and how much more memory the process had in use.
 *
 * Arguments: objects, bytes of characters in each string, rounds, folder of the JVM's dumps, and the agent's trace or nothing.
 */
public final class Dumping {
    static final class Node {
        Node next;
        String name;
        Object[] links;
        long number;
        int small;
    }

    /** A gap this long between two looks at the clock is a stop, and no turn that another thread had. */
    private static final long STOP_NANOS = 20_000_000;
    private static final long LOOK_NANOS = 500_000;
    private static final long LIMIT_NANOS = 300_000_000_000L;

    static Node[] nodes;
    static volatile long stoodNanos;

    private Dumping() {}

    public static void main(String[] arguments) throws Exception {
        int objects = Integer.parseInt(arguments[0]);
        byte[] characters = new byte[Integer.parseInt(arguments[1])];
        int rounds = Integer.parseInt(arguments[2]);
        Path folder = Path.of(arguments[3]);
        fill(objects / 4, characters);
        watch();
        HotSpotDiagnosticMXBean jvm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        String trace = arguments.length > 4 ? arguments[4] : null;
        for (int round = 1; round <= rounds; round++) {
            // Who comes second must not be the same one always, nor find the other's file on its way to the disk.
            for (boolean agent : round % 2 == 0 ? new boolean[] {true, false} : new boolean[] {false, true}) {
                File file = new File(agent ? trace + "-" + round + ".hprof" : folder + "/jvm-" + round + ".hprof");
                if (!agent) {
                    Watched watched = new Watched();
                    jvm.dumpHeap(file.getPath(), true);
                    watched.print("jvm", round, file);
                } else if (trace != null) {
                    File trigger = new File(trace + ".dump");
                    Watched watched = new Watched();
                    trigger.createNewFile();
                    // The agent looks for it now and then: its work begins when it takes the file away.
                    watched.begin = await(trigger, false);
                    await(file, true);
                    watched.print("agent", round, file);
                }
                if (round < rounds || agent != (trace != null)) {
                    file.delete();
                }
            }
        }
        System.out.println("nodes=" + nodes.length);
    }

    private static void fill(int count, byte[] characters) {
        nodes = new Node[count];
        long random = 1;
        for (int i = 0; i < count; i++) {
            Node node = new Node();
            node.next = i == 0 ? null : nodes[i - 1];
            node.number = i;
            for (int at = 0, rest = i; at < Math.min(characters.length, 8); at++, rest >>= 4) {
                characters[at] = (byte) ('a' + (rest & 15));
            }
            node.name = new String(characters, StandardCharsets.ISO_8859_1);
            random = random * 6364136223846793005L + 1442695040888963407L;
            node.links = new Object[] {node, nodes[(int) ((random >>> 33) % (i + 1))], node.name, null};
            nodes[i] = node;
        }
    }

    /** Adds up the stops of the program. */
    private static void watch() {
        Thread thread = new Thread(() -> {
            long last = System.nanoTime();
            while (true) {
                LockSupport.parkNanos(LOOK_NANOS);
                long now = System.nanoTime();
                if (now - last > STOP_NANOS) {
                    stoodNanos += now - last;
                }
                last = now;
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    /** Waits until a file is there, or gone; returns when that was not yet so: the program may stand still just then. */
    private static long await(File file, boolean there) {
        long begin = System.nanoTime();
        long last = begin;
        while (true) {
            long now = System.nanoTime();
            if (file.exists() == there) {
                return last;
            }
            last = now;
            if (now - begin > LIMIT_NANOS) {
                throw new IllegalStateException(file + (there ? " does not come" : " stays"));
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    /** What happens from now on. */
    private static final class Watched {
        private final long rss;
        private final long stood = stoodNanos;
        long begin;

        Watched() throws IOException {
            Files.writeString(Path.of("/proc/self/clear_refs"), "5");
            rss = kibibytes("VmRSS:");
            begin = System.nanoTime();
        }

        void print(String who, int round, File dump) throws Exception {
            long nanos = System.nanoTime() - begin;
            long peak = kibibytes("VmHWM:");
            // The stop may only just have ended.
            Thread.sleep(50);
            System.out.println(who + ".micros." + round + "=" + nanos / 1000);
            System.out.println(who + ".stood." + round + "=" + (stoodNanos - stood) / 1000);
            System.out.println(who + ".kib." + round + "=" + Math.max(0, peak - rss));
            System.out.println(who + ".bytes." + round + "=" + dump.length());
        }

        private static long kibibytes(String key) throws IOException {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith(key)) {
                    return Long.parseLong(line.replaceAll("[^0-9]", ""));
                }
            }
            throw new IOException("no " + key + " in /proc/self/status");
        }
    }
}
