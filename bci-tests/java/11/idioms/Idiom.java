package idioms;

/** A way to write code that makes objects, most of which the JIT may remove. */
public final class Idiom {
    /** Many rounds of it. Each idiom has its own loop, so that the JIT compiles it as if it were alone. */
    public interface Code {
        void run(int n);
    }

    /** Keeps results. */
    public static long sink;

    public final String name;
    public final Code code;

    public Idiom(String name, Code code) {
        this.name = name;
        this.code = code;
    }
}
