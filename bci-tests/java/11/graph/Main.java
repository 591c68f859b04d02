package graph;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.CountDownLatch;

/** A graph of objects that is known exactly: what holds what, and why each object lives. */
public final class Main {
    static final int CHAIN = Integer.getInteger("graph.chain", 100_000);

    /** A node of the chain: two references with numbers around them. */
    static class Base {
        byte mark = 1;
        Object first;
        long number;
    }

    static final class Node extends Base {
        int own;
        Object second;
        boolean last;

        Node(long number, int own) {
            this.number = number;
            this.own = own;
        }
    }

    /** Held by nothing but a static field, a local variable, a monitor, a thread, ... one class for each way. */
    static final class ByStatic {}
    static final class ByLocal {}
    static final class ByMonitor {}
    static final class ByThreadLocal {}
    static final class ByWeak {}
    static final class BySoft {}
    static final class ByPhantom {}
    static final class ByArray {}
    static final class ByInnerArray {}
    static final class ByThread extends Thread {
        final CountDownLatch ready = new CountDownLatch(1);
        final CountDownLatch done = new CountDownLatch(1);

        @Override
        public void run() {
            ByLocal local = new ByLocal();
            ThreadLocal<Object> threadLocal = ThreadLocal.withInitial(ByThreadLocal::new);
            threadLocal.get();
            synchronized (new ByMonitor()) {
                ready.countDown();
                try {
                    done.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            if (local.hashCode() == 0 && threadLocal.get() == null) {
                System.out.println("never");
            }
        }
    }

    static Object held = new ByStatic();
    static Node chain;
    static Object[] circle = new Object[2];
    static Object[][] rows = {{new ByInnerArray()}, {null, new ByInnerArray()}};
    static long[] numbers = {0x0123456789abcdefL, -1};
    static SoftReference<Object> soft = new SoftReference<>(new BySoft());
    static WeakReference<Object> weak;
    static PhantomReference<Object> phantom;
    static Object strong = new ByWeak();
    static Object strongPhantom = new ByPhantom();
    static Object loaded;

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < CHAIN; i++) {
            Node node = new Node(i, -i);
            node.first = chain;
            node.second = i % 1000 == 0 ? new ByArray[] {new ByArray()} : null;
            chain = node;
        }
        circle[0] = circle;
        circle[1] = new Object[] {circle};
        weak = new WeakReference<>(strong);
        phantom = new PhantomReference<>(strongPhantom, new ReferenceQueue<>());
        URL[] place = {Main.class.getProtectionDomain().getCodeSource().getLocation()};
        loaded = new URLClassLoader(place, null).loadClass("graph.Leaked").getConstructor().newInstance();
        ByThread thread = new ByThread();
        thread.setDaemon(true);
        thread.setName("holder");
        thread.start();
        thread.ready.await();
        System.out.println("built");
        if (arguments.length > 0) {
            System.in.read();
        }
        thread.done.countDown();
        thread.join();
    }
}
