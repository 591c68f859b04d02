package shapes;

/** Performs the shapes on a virtual thread. */
final class VirtualThreads {
    private VirtualThreads() {}

    static void perform(int rounds) throws InterruptedException {
        Thread.ofVirtual().name("virtual").start(() -> Main.performOrDie(rounds)).join();
    }
}
