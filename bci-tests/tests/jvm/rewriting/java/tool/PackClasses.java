import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/** Writes every class of this JDK's module image, or of jars, into one file: length (4 bytes), bytes, and so on. */
public final class PackClasses {
    private PackClasses() {}

    /** Arguments: output file, then "jrt" or jar files. */
    public static void main(String[] args) throws IOException {
        try (DataOutputStream out =
                new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(Paths.get(args[0])), 1 << 20))) {
            for (int i = 1; i < args.length; i++) {
                if (args[i].equals("jrt")) {
                    packImage(out);
                } else {
                    packJar(new File(args[i]), out);
                }
            }
        }
    }

    private static void packImage(DataOutputStream out) throws IOException {
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        List<Path> classes;
        try (Stream<Path> files = Files.walk(modules)) {
            classes = files.filter(f -> f.toString().endsWith(".class")).sorted().collect(Collectors.toList());
        }
        for (Path file : classes) {
            pack(Files.readAllBytes(file), out);
        }
    }

    /** Jars inside the jar are opened too. */
    private static void packJar(File jar, DataOutputStream out) throws IOException {
        try (InputStream in = Files.newInputStream(jar.toPath())) {
            packZip(new ZipInputStream(in), out);
        }
    }

    private static void packZip(ZipInputStream zip, DataOutputStream out) throws IOException {
        for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
            if (entry.getName().endsWith(".class")) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                byte[] buffer = new byte[8192];
                for (int n = zip.read(buffer); n > 0; n = zip.read(buffer)) {
                    bytes.write(buffer, 0, n);
                }
                pack(bytes.toByteArray(), out);
            } else if (entry.getName().endsWith(".jar")) {
                packZip(new ZipInputStream(zip), out);
            }
        }
    }

    private static void pack(byte[] bytes, DataOutputStream out) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }
}
