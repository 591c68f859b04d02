package planted;

/** What each class loader of {@link Deployments} loads anew. */
public final class Application implements Runnable {
    /** Of the class, not of an object: it stays as long as the loader does. */
    private static final byte[] TABLE = new byte[10_000];

    /** One application. */
    public Application() {
    }

    @Override
    public void run() {
        TABLE[0]++;
    }
}
