package attach;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Leaves compiled code all the time at places where the JIT has removed an object that the interpreter needs: an array that is not to hold
 * the box that is stored in it, and a box that is used after an exception.
 */
public final class Removed {
    private static final int WARM = 100_000;
    private static final int[] FEW = new int[1];

    private static volatile boolean isDone;
    private static volatile long rounds;
    private static String wrong;

    private Removed() {}

    public static void main(String[] args) throws Exception {
        Thread worker = new Thread(() -> {
            while (!isDone && wrong == null) {
                round((int) (rounds % 1000) + 1000);
                rounds++;
            }
        });
        worker.start();
        while (rounds < WARM && worker.isAlive()) Thread.sleep(1);
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            long until = rounds + WARM;
            while (rounds < until && worker.isAlive()) Thread.sleep(1);
            System.out.println("went on");
        }
        isDone = true;
        worker.join();
        System.out.println(wrong == null ? "right" : wrong);
    }

    private static void round(int number) {
        try {
            store(number);
            wrong = "nothing was thrown";
        } catch (ArrayStoreException expected) {
            // The array was there.
        } catch (RuntimeException e) {
            wrong = e.toString();
        }
        try {
            if (box(number) != number) wrong = "another box";
        } catch (RuntimeException e) {
            wrong = e.toString();
        }
    }

    private static int store(int number) {
        Object[] texts = new String[1];
        texts[0] = number;
        return number;
    }

    private static int box(int number) {
        Integer box = number;
        try {
            return FEW[number];
        } catch (ArrayIndexOutOfBoundsException expected) {
            return box;
        }
    }
}
