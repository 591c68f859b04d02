package split;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/** Native code of a library, a stub of the VM that computes a checksum, and the kernel. */
final class Natives {
    private Natives() {}

    static Map<String, Split.Part> parts() {
        Map<String, Split.Part> parts = Split.of(Deflated.class, Deflated::run, Checked.class, Checked::run);
        parts.put(Zeros.class.getName(), Zeros::run);
        return parts;
    }

    private static byte[] text(int bytes) {
        byte[] text = new byte[bytes];
        long random = 1;
        for (int i = 0; i < bytes; i++) {
            random = random * 6364136223846793005L + 1442695040888963407L;
            text[i] = (byte) ('a' + (random >>> 60));
        }
        return text;
    }

    static final class Deflated {
        static long run(int chunks) {
            byte[] text = text(32 << 10);
            byte[] out = new byte[64 << 10];
            Deflater deflater = new Deflater();
            long sum = 0;
            for (int i = 0; i < chunks; i++) {
                deflater.reset();
                deflater.setInput(text);
                deflater.finish();
                sum += deflater.deflate(out);
            }
            deflater.end();
            return sum;
        }
    }

    static final class Checked {
        static long run(int chunks) {
            byte[] text = text(64 << 10);
            CRC32 crc = new CRC32();
            for (int i = 0; i < chunks * 500; i++) {
                crc.update(text, 0, text.length);
            }
            return crc.getValue();
        }
    }

    static final class Zeros {
        static long run(int chunks) {
            byte[] read = new byte[64 << 10];
            long sum = 0;
            try (InputStream zeros = new FileInputStream("/dev/zero")) {
                for (int i = 0; i < chunks * 200; i++) {
                    sum += zeros.read(read);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return sum;
        }
    }
}
