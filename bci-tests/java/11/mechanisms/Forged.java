package mechanisms;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Classes written byte by byte, as large as wanted. */
public final class Forged extends ClassLoader {
    /** Of Java 6: code without branches needs no stack maps in any version. */
    private static final int VERSION = 50;

    /** So many sites in a method that it can be compiled, whatever is inserted at each. */
    private static final int SITES_PER_METHOD = 400;

    private static int made;

    private final ByteArrayOutputStream pool = new ByteArrayOutputStream();
    private final DataOutputStream constants = new DataOutputStream(pool);
    private int constantCount = 1;

    private Forged() {
        super(Forged.class.getClassLoader());
    }

    /** A class whose method {@code run} uses {@code n} string constants that nobody used before. */
    static Runnable strings(int n) {
        return new Forged().define("Strings" + made++, n, null);
    }

    /** A class whose method {@code run} makes an instance of {@code type} at {@code n} sites, each on its own line. */
    public static Runnable sites(int n, Class<?> type) {
        return new Forged().define("Sites" + made++, n, type);
    }

    private Runnable define(String name, int n, Class<?> type) {
        try {
            byte[] bytes = write("forged/" + name, n, type);
            return (Runnable) defineClass(null, bytes, 0, bytes.length).getDeclaredConstructor().newInstance();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private byte[] write(String name, int n, Class<?> type) throws IOException {
        int self = type(name);
        int object = type("java/lang/Object");
        int runnable = type("java/lang/Runnable");
        int code = utf8("Code");
        int lines = utf8("LineNumberTable");
        int nothing = utf8("()V");
        int constructor = utf8("<init>");
        int run = utf8("run");
        int superConstructor = reference(object, constructor, nothing);
        int made = type == null ? 0 : type(type.getName().replace('.', '/'));
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        DataOutputStream methods = new DataOutputStream(body);
        int parts = (n + SITES_PER_METHOD - 1) / SITES_PER_METHOD;

        ByteArrayOutputStream initialise = new ByteArrayOutputStream();
        initialise.write(0x2A); // aload_0
        op(initialise, 0xB7, superConstructor); // invokespecial
        method(methods, constructor, nothing, code, initialise, lines, 0, 0);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        int line = 1;
        for (int part = 0; part < parts; part++) {
            int partName = utf8("part" + part);
            op(all, 0xB8, reference(self, partName, nothing)); // invokestatic
            int sites = Math.min(SITES_PER_METHOD, n - part * SITES_PER_METHOD);
            ByteArrayOutputStream some = new ByteArrayOutputStream();
            for (int i = 0; i < sites; i++) {
                // ldc_w or new; pop
                op(some, type == null ? 0x13 : 0xBB, type == null ? string(name + " " + (line + i)) : made);
                some.write(0x57);
            }
            method(methods, partName, nothing, code, some, lines, line, sites);
            line += sites;
        }
        method(methods, run, nothing, code, all, lines, 0, 0);

        ByteArrayOutputStream file = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(file);
        out.writeInt(0xCAFEBABE);
        out.writeInt(VERSION);
        out.writeShort(constantCount);
        pool.writeTo(out);
        out.writeShort(0x21); // public, super
        out.writeShort(self);
        out.writeShort(object);
        out.writeShort(1);
        out.writeShort(runnable);
        out.writeShort(0);
        out.writeShort(parts + 2);
        body.writeTo(out);
        out.writeShort(0);
        return file.toByteArray();
    }

    private static void op(ByteArrayOutputStream code, int opcode, int operand) {
        code.write(opcode);
        code.write(operand >> 8);
        code.write(operand);
    }

    /** Static but for the constructor and {@code run}; {@code sites} instructions of four bytes with a line each. */
    private void method(DataOutputStream out, int name, int descriptor, int code, ByteArrayOutputStream instructions,
            int lines, int firstLine, int sites) throws IOException {
        instructions.write(0xB1); // return
        boolean isStatic = sites > 0;
        out.writeShort(isStatic ? 9 : 1);
        out.writeShort(name);
        out.writeShort(descriptor);
        out.writeShort(1);
        out.writeShort(code);
        int linesLength = isStatic ? 8 + 4 * sites : 0;
        out.writeInt(12 + instructions.size() + linesLength);
        out.writeShort(1);
        out.writeShort(isStatic ? 0 : 1);
        out.writeInt(instructions.size());
        instructions.writeTo(out);
        out.writeShort(0);
        out.writeShort(isStatic ? 1 : 0);
        if (isStatic) {
            out.writeShort(lines);
            out.writeInt(2 + 4 * sites);
            out.writeShort(sites);
            for (int i = 0; i < sites; i++) {
                out.writeShort(4 * i);
                out.writeShort(firstLine + i);
            }
        }
    }

    private int utf8(String text) throws IOException {
        constants.writeByte(1);
        constants.writeUTF(text);
        return constantCount++;
    }

    private int type(String name) throws IOException {
        int text = utf8(name);
        constants.writeByte(7);
        constants.writeShort(text);
        return constantCount++;
    }

    private int string(String value) throws IOException {
        int text = utf8(value);
        constants.writeByte(8);
        constants.writeShort(text);
        return constantCount++;
    }

    private int reference(int owner, int name, int descriptor) throws IOException {
        constants.writeByte(12);
        constants.writeShort(name);
        constants.writeShort(descriptor);
        int nameAndType = constantCount++;
        constants.writeByte(10);
        constants.writeShort(owner);
        constants.writeShort(nameAndType);
        return constantCount++;
    }
}
