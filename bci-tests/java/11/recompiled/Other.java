package recompiled;

/** Code of its own size, with the frame that the others have. */
public final class Other implements Runnable {
    @Override
    public void run() {
        Main.sink = new Object();
        Main.sink = new Object();
        Main.sink = new Object();
        Main.sink = new Object();
        Main.sink = new Object();
        Main.sink = new Object();
        Main.sink = new Object();
        Main.sink = new Object();
        Main.sink = new Object();
        Main.sink = new Object();
        Main.sink = new Object();
        Main.sink = new Object();
        Main.sink = new Object();
        Main.sink = new Object();
    }
}
