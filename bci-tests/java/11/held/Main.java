package held;

import java.io.InputStream;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.concurrent.CountDownLatch;

/** A heap whose holders are known: one class for each thing that a dump has to show. Waits until a line comes in. */
public final class Main {
    private Main() {}

    static final class Link {
        Link next;
    }

    static final class Ring {
        Ring next;
    }

    static final class Shared {}

    static final class First {
        final Shared shared;

        First(Shared shared) {
            this.shared = shared;
        }
    }

    static final class Second {
        final Shared shared;

        Second(Shared shared) {
            this.shared = shared;
        }
    }

    static final class Soft {}

    static final class Weak {}

    static final class Phantom {}

    static final class Local {}

    static final class InThread {}

    static final class Loader extends ClassLoader {
        Loader() {
            super(Main.class.getClassLoader());
        }

        Object loaded() throws Exception {
            try (InputStream in = Main.class.getResourceAsStream("Loaded.class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass("held.Loaded", bytes, 0, bytes.length).getConstructor().newInstance();
            }
        }
    }

    static Link chain;
    static Ring ring;
    static First first;
    static Second second;
    static SoftReference<Soft> soft;
    static WeakReference<Weak> weak;
    static PhantomReference<Phantom> phantom;
    static Object[] strong;
    static long[][] grid;
    static Object loaded;
    static final ThreadLocal<InThread> IN_THREAD = new ThreadLocal<>();
    static final ReferenceQueue<Phantom> QUEUE = new ReferenceQueue<>();

    private static void build(int links) throws Exception {
        for (int count = 0; count < links; count++) {
            Link link = new Link();
            link.next = chain;
            chain = link;
        }
        ring = new Ring();
        ring.next = new Ring();
        ring.next.next = new Ring();
        ring.next.next.next = ring;
        Shared shared = new Shared();
        first = new First(shared);
        second = new Second(shared);
        soft = new SoftReference<>(new Soft());
        Weak weakly = new Weak();
        weak = new WeakReference<>(weakly);
        Phantom phantomly = new Phantom();
        phantom = new PhantomReference<>(phantomly, QUEUE);
        strong = new Object[] {null, weakly, phantomly};
        grid = new long[3][5];
        loaded = new Loader().loaded();
        CountDownLatch set = new CountDownLatch(1);
        Thread keeper = new Thread(() -> {
            IN_THREAD.set(new InThread());
            set.countDown();
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "keeper");
        keeper.setDaemon(true);
        keeper.start();
        set.await();
    }

    /** Builds the heap; the argument is the length of the chain. */
    public static void main(String[] args) throws Exception {
        build(Integer.parseInt(args[0]));
        System.gc();
        System.gc();
        Local local = new Local();
        System.out.println("held");
        System.in.read();
        Reference.reachabilityFence(local);
    }
}
