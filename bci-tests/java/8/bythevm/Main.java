package bythevm;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Loads classes for which the VM makes many objects that no bytecode allocates. What it makes them for is the argument. */
public final class Main {
    private static final int CLASSES = 20;
    private static final int CONSTANTS = 200;
    private static final MethodType NOTHING = MethodType.methodType(void.class);

    private Main() {}

    public static void main(String[] args) throws Throwable {
        Loader loader = new Loader();
        Object handle = MethodHandles.lookup().findStatic(Main.class, "nothing", NOTHING);
        for (int i = 0; i < CLASSES; i++) {
            Class<?> made = loader.define(new ClassFile("bythevm/Made" + i, args[0]).write());
            made.getMethod("run", MethodHandle.class).invoke(null, handle);
        }
    }

    static void nothing() {}

    private static final class Loader extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    /** A class with a static initialiser and a method `run`. */
    private static final class ClassFile {
        private final ByteArrayOutputStream poolBytes = new ByteArrayOutputStream(1 << 15);
        private final DataOutputStream pool = new DataOutputStream(poolBytes);
        private final ByteArrayOutputStream initialiser = new ByteArrayOutputStream(1 << 12);
        private final ByteArrayOutputStream run = new ByteArrayOutputStream(1 << 12);
        private final int[] fields;
        private final String name;
        private int constants = 1;

        ClassFile(String name, String kind) throws IOException {
            this.name = name;
            fields = new int[kind.equals("fields") ? CONSTANTS : 0];
            for (int i = 0; i < CONSTANTS; i++) {
                switch (kind) {
                    case "initialisers":
                        // ldc_w, pop
                        code(initialiser, 0x13, string(i), 0x57);
                        break;
                    case "fields":
                        fields[i] = string(i);
                        break;
                    case "links":
                        // Never used: the array for them is made all the same. The same text again is a constant of its own.
                        for (int text = utf8(name), n = 0; n < 10; n++) {
                            pool.writeByte(8);
                            pool.writeShort(text);
                            constants++;
                        }
                        break;
                    case "handles":
                        // aload_0, invokevirtual: each constant is resolved by itself.
                        run.write(0x2a);
                        code(run, 0xb6, invokeExact());
                        break;
                    default:
                        throw new IllegalArgumentException(kind);
                }
            }
        }

        private static void code(ByteArrayOutputStream code, int opcode, int constant, int... more) {
            code.write(opcode);
            code.write(constant >> 8);
            code.write(constant);
            for (int byteCode : more) {
                code.write(byteCode);
            }
        }

        private int utf8(String text) throws IOException {
            pool.writeByte(1);
            pool.writeUTF(text);
            return constants++;
        }

        private int pair(int tag, int first, int second) throws IOException {
            pool.writeByte(tag);
            pool.writeShort(first);
            pool.writeShort(second);
            return constants++;
        }

        private int classNamed(String named) throws IOException {
            int text = utf8(named);
            pool.writeByte(7);
            pool.writeShort(text);
            return constants++;
        }

        private int string(int number) throws IOException {
            int text = utf8(name + "." + number);
            pool.writeByte(8);
            pool.writeShort(text);
            return constants++;
        }

        private int invokeExactClass;
        private int invokeExactName;

        private int invokeExact() throws IOException {
            if (invokeExactClass == 0) {
                invokeExactClass = classNamed("java/lang/invoke/MethodHandle");
                int method = utf8("invokeExact");
                invokeExactName = pair(12, method, utf8("()V"));
            }
            return pair(10, invokeExactClass, invokeExactName);
        }

        byte[] write() throws IOException {
            int self = classNamed(name);
            int parent = classNamed("java/lang/Object");
            int code = utf8("Code");
            int constantValue = utf8("ConstantValue");
            int text = utf8("Ljava/lang/String;");
            int[] names = new int[fields.length];
            for (int i = 0; i < fields.length; i++) {
                names[i] = utf8("f" + i);
            }
            int clinit = utf8("<clinit>");
            int none = utf8("()V");
            int runName = utf8("run");
            int runType = utf8("(Ljava/lang/invoke/MethodHandle;)V");
            ByteArrayOutputStream bytes = new ByteArrayOutputStream(1 << 16);
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeInt(0xCAFEBABE);
            out.writeInt(52);
            out.writeShort(constants);
            poolBytes.writeTo(out);
            out.writeShort(0x21);
            out.writeShort(self);
            out.writeShort(parent);
            out.writeShort(0);
            out.writeShort(fields.length);
            for (int i = 0; i < fields.length; i++) {
                out.writeShort(0x19);
                out.writeShort(names[i]);
                out.writeShort(text);
                out.writeShort(1);
                out.writeShort(constantValue);
                out.writeInt(2);
                out.writeShort(fields[i]);
            }
            out.writeShort(2);
            method(out, 8, clinit, none, code, initialiser);
            method(out, 9, runName, runType, code, run);
            out.writeShort(0);
            return bytes.toByteArray();
        }

        private static void method(
                DataOutputStream out, int access, int name, int type, int code, ByteArrayOutputStream body)
                throws IOException {
            body.write(0xb1);
            out.writeShort(access);
            out.writeShort(name);
            out.writeShort(type);
            out.writeShort(1);
            out.writeShort(code);
            out.writeInt(body.size() + 12);
            out.writeShort(1);
            out.writeShort(1);
            out.writeInt(body.size());
            body.writeTo(out);
            out.writeShort(0);
            out.writeShort(0);
        }
    }
}
