import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Rewrites every class of a pack with ASM, with the insertions of {@code Sites} in the Rust benchmark.
 *
 * <p>Each line on standard input, {@code plain} or {@code frames}, runs one round and is answered by one line:
 * nanoseconds of CPU time, sites, and the bytes of all results. {@code plain} is the cheapest way ASM has: the constant pool is
 * copied, frames are kept, and the stack is raised by hand. {@code frames} lets ASM compute frames and stack
 * ({@code COMPUTE_FRAMES}), with the answer to common superclasses given for free.
 */
public final class AsmBench {
    private static final String PROBE = "java/lang/MartiniProbe";
    private static long sites;
    private static int nextSite;

    private AsmBench() {}

    public static void main(String[] args) throws Exception {
        List<byte[]> classes = read(args[0]);
        boolean counts = args[1].equals("counts");
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String command = commands.readLine(); command != null; command = commands.readLine()) {
            boolean frames = command.equals("frames");
            sites = 0;
            nextSite = 0;
            long bytes = 0;
            long start = clock.getCurrentThreadCpuTime();
            for (byte[] c : classes) {
                bytes += rewrite(c, frames, counts).length;
            }
            long nanos = clock.getCurrentThreadCpuTime() - start;
            System.out.println(nanos + " " + sites + " " + bytes);
        }
    }

    private static byte[] rewrite(byte[] bytes, boolean frames, boolean counts) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = frames ? new FrameWriter() : new ClassWriter(reader, 0);
        boolean object = !counts && reader.getClassName().equals("java/lang/Object");
        reader.accept(new Sites(writer, counts, object), frames ? ClassReader.SKIP_FRAMES : 0);
        return writer.toByteArray();
    }

    /** Does not load classes to find what two of them have in common. */
    private static final class FrameWriter extends ClassWriter {
        FrameWriter() {
            super(COMPUTE_FRAMES);
        }

        @Override
        protected String getCommonSuperClass(String one, String other) {
            return "java/lang/Object";
        }
    }

    private static final class Sites extends ClassVisitor {
        private final boolean counts;
        private final boolean object;

        Sites(ClassVisitor next, boolean counts, boolean object) {
            super(Opcodes.ASM9, next);
            this.counts = counts;
            this.object = object;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] thrown) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, thrown);
            return new MethodSites(next, counts, object && name.equals("<init>"));
        }
    }

    private static final class MethodSites extends MethodVisitor {
        private final boolean counts;
        private final boolean constructor;

        MethodSites(MethodVisitor next, boolean counts, boolean constructor) {
            super(Opcodes.ASM9, next);
            this.counts = counts;
            this.constructor = constructor;
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            super.visitIntInsn(opcode, operand);
            if (opcode == Opcodes.NEWARRAY) {
                array();
            }
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            super.visitTypeInsn(opcode, type);
            if (opcode == Opcodes.ANEWARRAY) {
                array();
            } else if (counts && opcode == Opcodes.NEW) {
                sites++;
                push(nextSite++);
                super.visitMethodInsn(Opcodes.INVOKESTATIC, PROBE, "fresh", "(I)V", false);
            }
        }

        @Override
        public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
            super.visitMultiANewArrayInsn(descriptor, dimensions);
            array();
        }

        @Override
        public void visitInsn(int opcode) {
            if (constructor && opcode == Opcodes.RETURN) {
                sites++;
                super.visitVarInsn(Opcodes.ALOAD, 0);
                super.visitMethodInsn(Opcodes.INVOKESTATIC, PROBE, "object", "(Ljava/lang/Object;)V", false);
            }
            super.visitInsn(opcode);
        }

        @Override
        public void visitMaxs(int maxStack, int maxLocals) {
            super.visitMaxs(maxStack + 1, maxLocals);
        }

        private void array() {
            sites++;
            super.visitInsn(Opcodes.DUP);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, PROBE, "array", "(Ljava/lang/Object;)V", false);
        }

        private void push(int value) {
            if (value >= -1 && value <= 5) {
                super.visitInsn(Opcodes.ICONST_0 + value);
            } else if (value == (byte) value) {
                super.visitIntInsn(Opcodes.BIPUSH, value);
            } else if (value == (short) value) {
                super.visitIntInsn(Opcodes.SIPUSH, value);
            } else {
                super.visitLdcInsn(value);
            }
        }
    }

    private static List<byte[]> read(String pack) throws Exception {
        List<byte[]> classes = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(Files.newInputStream(Paths.get(pack)))) {
            byte[] all = in.readAllBytes();
            java.nio.ByteBuffer buffer = java.nio.ByteBuffer.wrap(all);
            while (buffer.hasRemaining()) {
                byte[] bytes = new byte[buffer.getInt()];
                buffer.get(bytes);
                classes.add(bytes);
            }
        }
        return classes;
    }
}
