package hostile;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Classes and threads whose names are hard to write down, and class files of every version this JVM reads. Class k
 * allocates 100 + k instances, so that its number identifies it. Prints what it did with every character
 * beyond printable ASCII as {@code \\uXXXX}.
 */
public final class Main {
    private static final String[] NAMES = {
        "a & b", "a < b", "a > b", "quote \" quote", "apostrophe ' apostrophe", "tab\ttab", "line\nline",
        "return\rreturn", "nul\u0000nul", "bell\u0007", "escape\u001b]31m", "del\u007f", "c1\u0085c1", "nel\u2028line",
        "bom\ufeff", "not a character \uffff", "reversed \ufffe", "high \ud800", "low \udc00", "twisted \udc00\ud800",
        "pair \ud83d\ude00", "\u65e5\u672c\u8a9e", "combining e\u0301", "<!--", "<?xml?>", "<init>",
        "back\\slash", "\\u0000", "\\ud800", "%00", "dash-", "hash#", "$", " ", "\u202e",
    };

    /** What only a thread may be called. */
    private static final String[] THREAD_NAMES = {"&amp;", "&#0;", "]]>", "", "a.b;c[d/e"};

    private Main() {}

    /** Runs the program. */
    public static void main(String[] args) throws Exception {
        int made = 100;
        for (String name : NAMES) {
            String full = "odd/" + name;
            allocate(new Patch().define(full, 52), made, full);
            made++;
        }
        StringBuilder everything = new StringBuilder("odd/long");
        while (everything.length() < 20_000) {
            everything.append("\u00e4\u0001");
        }
        allocate(new Patch().define(everything.toString(), 52), made++, "odd/long*");
        int newest = Runtime.version().feature() + 44;
        for (int version = 45; version <= newest; version++) {
            String full = "version/V" + version;
            allocate(new Patch().define(full, version), made, full);
            made++;
        }
        List<String> threadNames = new ArrayList<>(List.of(NAMES));
        threadNames.addAll(List.of(THREAD_NAMES));
        for (String name : threadNames) {
            Thread thread = new Thread(Patch::new, name);
            thread.start();
            thread.join();
            System.out.println("thread\t" + escape(name));
        }
        System.out.println("done");
    }

    private static void allocate(IntFunction<?> type, int n, String name) {
        if (type.apply(n - 1) == null) {
            throw new AssertionError(name);
        }
        // The generator made the first instance.
        System.out.println("class\t" + n + '\t' + escape(name.replace('/', '.')));
    }

    private static String escape(String text) {
        StringBuilder escaped = new StringBuilder();
        for (char c : text.toCharArray()) {
            if (c >= ' ' && c < 0x7f && c != '\\') {
                escaped.append(c);
            } else {
                escaped.append(String.format("\\u%04x", (int) c));
            }
        }
        return escaped.toString();
    }
}

/** Makes other classes of {@link Template} by patching its class file. */
final class Patch extends ClassLoader {
    private static final String TEMPLATE = "hostile/Template";

    Patch() {
        super(Patch.class.getClassLoader());
    }

    /** Defines the template under another internal name (may hold anything but {@code . ; [}) and version. */
    IntFunction<?> define(String internalName, int majorVersion) throws ReflectiveOperationException {
        byte[] bytes = patched(internalName, majorVersion);
        Class<?> type = defineClass(null, bytes, 0, bytes.length);
        return (IntFunction<?>) type.getDeclaredConstructor().newInstance();
    }

    private static byte[] patched(String internalName, int majorVersion) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (InputStream file = Patch.class.getResourceAsStream("Template.class");
                DataInputStream in = new DataInputStream(file);
                DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(in.readInt());
            in.readInt();
            out.writeShort(majorVersion == 45 ? 3 : 0);
            out.writeShort(majorVersion);
            int count = in.readUnsignedShort();
            out.writeShort(count);
            for (int i = 1; i < count; i++) {
                int tag = in.readUnsignedByte();
                out.writeByte(tag);
                switch (tag) {
                    case 1: // Utf8, in the class file's own encoding, which has a form for lone surrogates
                        out.writeUTF(in.readUTF().replace(TEMPLATE, internalName));
                        break;
                    case 5: // Long and Double take two places
                    case 6:
                        out.writeLong(in.readLong());
                        i++;
                        break;
                    case 7:
                    case 8:
                        out.writeShort(in.readUnsignedShort());
                        break;
                    case 3:
                    case 4:
                    case 9:
                    case 10:
                    case 11:
                    case 12:
                        out.writeInt(in.readInt());
                        break;
                    default:
                        throw new IllegalStateException("the template holds a constant of kind " + tag);
                }
            }
            in.transferTo(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}
