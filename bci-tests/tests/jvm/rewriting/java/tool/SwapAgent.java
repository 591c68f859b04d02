import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A Java agent that hands the JVM, for each class of one pack, the class at the same place of another pack. */
public final class SwapAgent implements ClassFileTransformer {
    private final Map<Long, byte[]> byContent = new HashMap<>();
    private final Map<String, byte[]> byName = new HashMap<>();

    private SwapAgent() {}

    /** Arguments: original pack, rewritten pack (length 0: as it was), joined by a comma. */
    public static void premain(String args, Instrumentation instrumentation) throws Exception {
        String[] packs = args.split(",");
        SwapAgent agent = new SwapAgent();
        agent.read(packs[0], packs[1]);
        instrumentation.addTransformer(agent, true);
        List<Class<?>> loaded = new ArrayList<>();
        for (Class<?> c : instrumentation.getAllLoadedClasses()) {
            if (agent.byName.containsKey(c.getName().replace('.', '/')) && instrumentation.isModifiableClass(c)) {
                loaded.add(c);
            }
        }
        instrumentation.retransformClasses(loaded.toArray(new Class<?>[0]));
        System.out.println("retransformed " + loaded.size());
    }

    private void read(String originals, String rewritten) throws IOException {
        MappedByteBuffer from = map(originals);
        MappedByteBuffer to = map(rewritten);
        while (from.hasRemaining()) {
            byte[] original = next(from);
            byte[] replacement = next(to);
            if (replacement.length > 0) {
                byContent.put(key(original), replacement);
                byName.putIfAbsent(name(original), replacement);
            }
        }
    }

    private static MappedByteBuffer map(String file) throws IOException {
        try (RandomAccessFile open = new RandomAccessFile(file, "r")) {
            return open.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, open.length());
        }
    }

    private static byte[] next(MappedByteBuffer pack) {
        byte[] bytes = new byte[pack.getInt()];
        pack.get(bytes);
        return bytes;
    }

    private static long key(byte[] bytes) {
        return ((long) bytes.length << 32) ^ (Arrays.hashCode(bytes) & 0xFFFFFFFFL);
    }

    @Override
    public byte[] transform(
            ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        // A class loaded before us comes in a form that HotSpot has put together anew.
        return redefined != null ? byName.get(name) : byContent.get(key(bytes));
    }

    /** The name in a class file. */
    static String name(byte[] bytes) {
        java.nio.ByteBuffer in = java.nio.ByteBuffer.wrap(bytes);
        in.position(8);
        int count = in.getShort() & 0xFFFF;
        int[] at = new int[count];
        for (int i = 1; i < count; i++) {
            at[i] = in.position();
            int tag = in.get();
            switch (tag) {
                case 1:
                    int length = in.getShort() & 0xFFFF;
                    in.position(in.position() + length);
                    break;
                case 7: case 8: case 16: case 19: case 20:
                    in.position(in.position() + 2);
                    break;
                case 15:
                    in.position(in.position() + 3);
                    break;
                case 5: case 6:
                    in.position(in.position() + 8);
                    i++;
                    break;
                default:
                    in.position(in.position() + 4);
            }
        }
        int thisClass = in.getShort(in.position() + 2) & 0xFFFF;
        int utf8 = at[in.getShort(at[thisClass] + 1) & 0xFFFF];
        int length = in.getShort(utf8 + 1) & 0xFFFF;
        // Modified UTF-8 and UTF-8 agree on all names that matter here.
        return new String(bytes, utf8 + 3, length, java.nio.charset.StandardCharsets.UTF_8);
    }
}
