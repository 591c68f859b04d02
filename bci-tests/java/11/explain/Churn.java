package explain;

/** Planted: a report that is joined to itself line by line, by a helper, for each request. */
public final class Churn {
    private static volatile int length;

    private Churn() {}

    public static void main(String[] args) {
        for (int request = 0; request < 40; request++) {
            length = report(request).length();
        }
        System.out.println("reports of " + length + " characters");
    }

    private static String report(int request) {
        String text = "";
        for (int line = 0; line < 1_000; line++) {
            text = join(text, row(request, line));
        }
        return text;
    }

    private static String row(int request, int line) {
        return "request " + request + ", line " + line + ": all is well\n";
    }

    private static String join(String text, String row) {
        return text.concat(row); // planted: churn
    }
}
