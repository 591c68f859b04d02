package hostile;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.function.IntFunction;

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
