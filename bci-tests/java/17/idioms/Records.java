package idioms;

import static idioms.Idiom.sink;

/** What came with Java 12 to 17. */
public final class Records {
    record Point(int x, int y) {}

    record Line(Point from, Point to) {}

    enum Colour { RED, GREEN, BLUE }

    private static final Colour[] COLOURS = Colour.values();
    private static final String[] NAMES = {"one", "two", "three"};

    public static Idiom[] all() {
        return new Idiom[] {
            new Idiom("record_equals", Records::equal),
            new Idiom("record_hash", Records::hash),
            new Idiom("record_string", Records::string),
            new Idiom("nested_record_equals", Records::nested),
            new Idiom("instanceof_pattern", Records::pattern),
            new Idiom("switch_expression_enum", Records::enums),
            new Idiom("switch_expression_string", Records::strings),
            new Idiom("local_record", Records::local),
            new Idiom("stream_to_list", Records::toList),
        };
    }

    private static void equal(int n) {
        for (int i = 0; i < n; i++) if (new Point(i, 1).equals(new Point(i, 1))) sink++;
    }

    private static void hash(int n) {
        for (int i = 0; i < n; i++) sink += new Point(i, 1).hashCode();
    }

    private static void string(int n) {
        for (int i = 0; i < n; i++) sink += new Point(i & 7, 1).toString().length();
    }

    private static void nested(int n) {
        for (int i = 0; i < n; i++) {
            Line a = new Line(new Point(i, 1), new Point(2, i)), b = new Line(new Point(i, 1), new Point(2, i));
            if (a.equals(b)) sink += a.hashCode();
        }
    }

    private static Object some(int i) {
        return switch (i % 3) {
            case 0 -> new Point(i, 1);
            case 1 -> new Line(new Point(i, 1), null);
            default -> "text";
        };
    }

    private static void pattern(int n) {
        for (int i = 0; i < n; i++) {
            Object o = some(i);
            if (o instanceof Point p && p.x > 0) sink += p.x;
            else if (o instanceof Line l) sink += l.from.y;
        }
    }

    private static void enums(int n) {
        for (int i = 0; i < n; i++) {
            Point p = switch (COLOURS[i % 3]) {
                case RED -> new Point(1, i);
                case GREEN, BLUE -> new Point(i, 2);
            };
            sink += p.x;
        }
    }

    private static void strings(int n) {
        for (int i = 0; i < n; i++) {
            Point p = switch (NAMES[i % 3]) {
                case "one" -> new Point(1, i);
                default -> new Point(i, 2);
            };
            sink += p.y;
        }
    }

    private static void local(int n) {
        record Sum(long a, long b) {
            long sum() {
                return a + b;
            }
        }
        for (int i = 0; i < n; i++) sink += new Sum(i, 2).sum();
    }

    private static void toList(int n) {
        for (int i = 0; i < n; i += 10) {
            int k = i;
            sink += java.util.stream.IntStream.range(0, 4).mapToObj(j -> new Point(j, k)).toList().size();
        }
    }
}
