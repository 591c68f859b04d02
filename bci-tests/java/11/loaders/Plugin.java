package loaders;

/** Names itself and Object, nothing else. */
public final class Plugin {
    private final Plugin[] made;

    private Plugin(Plugin[] made) {
        this.made = made;
    }

    public static int run(int rounds) {
        int sum = 0;
        for (int round = 0; round < rounds; round++) {
            sum += new Plugin(new Plugin[3]).made.length + new int[round % 5].length;
        }
        return sum;
    }
}
