package waits;

import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Pools and timers without work, a task that waits in its pool, and a thread that takes its work by itself. */
public final class Idle {
    private Idle() {}

    public static void main(String[] args) throws Exception {
        ExecutorService fixed = Executors.newFixedThreadPool(2, task -> new Thread(task, "idle-fixed"));
        fixed.submit(() -> {}).get();
        ExecutorService cached = Executors.newCachedThreadPool(task -> new Thread(task, "idle-cached"));
        cached.submit(() -> {}).get();
        ScheduledExecutorService scheduled =
                Executors.newScheduledThreadPool(2, task -> new Thread(task, "idle-scheduled"));
        scheduled.scheduleAtFixedRate(() -> {}, 10, 10, TimeUnit.MILLISECONDS);
        Timer timer = new Timer("idle-timer", true);
        timer.schedule(new TimerTask() {
            @Override
            public void run() {}
        }, 10, 10);
        ForkJoinPool.commonPool().submit(() -> {}).get();
        CountDownLatch latch = new CountDownLatch(1);
        ExecutorService busy = Executors.newFixedThreadPool(1, task -> new Thread(task, "busy-task"));
        busy.execute(() -> await(latch));
        LinkedBlockingQueue<String> queue = new LinkedBlockingQueue<>();
        Thread own = new Thread(() -> take(queue), "busy-queue");
        own.start();
        Thread.sleep(100);
        latch.countDown();
        queue.put("");
        own.join();
        busy.shutdown();
        fixed.shutdown();
        cached.shutdown();
        scheduled.shutdown();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void take(LinkedBlockingQueue<String> queue) {
        try {
            queue.take();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
