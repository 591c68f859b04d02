package natives;

/** Has native code make objects in each way that JNI has, so many of each, on two threads. */
public class Main {
    /** More arguments than registers take. */
    static class Made {
        final String text;

        Made(int a, double b, float c, long d, String e, byte f, short g, char h, boolean i, double j, double k, double l, double m,
                double n, double o, double p, int q) {
            text = a + " " + b + " " + c + " " + d + " " + e + " " + f + " " + g + " " + h + " " + i + " " + (j + k + l + m + n + o + p) + " " + q;
        }
    }

    static native Object object(Class<?> of, int how);

    static native String string(int how);

    static native Object array(int of, int length);

    static void make(int rounds) {
        StringBuilder texts = new StringBuilder();
        for (int i = 0; i < rounds; i++) {
            Object allocated = object(Made.class, 0); // line 24
            Object listed = object(Made.class, 1); // line 25
            Object inArray = object(Made.class, 2); // line 26
            texts.setLength(0);
            texts.append(((Made) listed).text).append(((Made) allocated).text).append(((Made) inArray).text);
            for (int how = 0; how < 3; how++) texts.append(string(how)); // line 29
            for (int of = 0; of < 9; of++) array(of, 11); // line 30
        }
        System.out.println(texts);
    }

    /** What cannot be made. The VM makes an exception instead. */
    static void fail(int rounds) {
        int failed = 0;
        for (int i = 0; i < rounds; i++) {
            try {
                array(1, -1);
            } catch (NegativeArraySizeException e) {
                failed++;
            }
            try {
                object(Runnable.class, 0);
            } catch (Exception e) {
                failed += e instanceof InstantiationException ? 1 : 0;
            }
        }
        System.out.println(failed + " failed");
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        make(Integer.parseInt(args[1]));
        fail(Integer.parseInt(args[1]));
        Thread thread = new Thread(() -> make(Integer.parseInt(args[1])), "other");
        thread.start();
        thread.join();
    }
}
