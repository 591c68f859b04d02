package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Starts a JVM of its own, in a JVM beside that of the other test. */
class ChildTest {
    @Test
    void aChildEnds() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process child = new ProcessBuilder(java, "-version").redirectErrorStream(true).start();
        child.getInputStream().readAllBytes();
        assertEquals(0, child.waitFor());
    }
}
