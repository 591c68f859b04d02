package idioms;

import static idioms.Idiom.sink;

import java.util.List;

/** What came with Java 18 to 21. */
public final class Patterns {
    sealed interface Shape permits Circle, Square, Group {}

    record Circle(int radius) implements Shape {}

    record Square(int side) implements Shape {}

    record Group(Shape first, Shape second) implements Shape {}

    enum Colour { RED, GREEN, BLUE }

    private static final Colour[] COLOURS = Colour.values();
    private static final List<String> WORDS = List.of("one", "two", "three");

    public static Idiom[] all() {
        return new Idiom[] {
            new Idiom("pattern_switch", Patterns::types),
            new Idiom("record_pattern_switch", Patterns::records),
            new Idiom("nested_record_pattern", Patterns::nested),
            new Idiom("guarded_pattern", Patterns::guarded),
            new Idiom("pattern_switch_enum", Patterns::enums),
            new Idiom("reversed_list", Patterns::reversed),
        };
    }

    private static Shape some(int i) {
        return switch (i % 3) {
            case 0 -> new Circle(i);
            case 1 -> new Square(i);
            default -> new Group(new Circle(i), new Square(i));
        };
    }

    private static int area(Shape shape) {
        return switch (shape) {
            case Circle c -> c.radius * 3;
            case Square s -> s.side * s.side;
            case Group g -> 1;
        };
    }

    private static void types(int n) {
        for (int i = 0; i < n; i++) sink += area(new Circle(i)) + area(new Square(i));
    }

    private static int parts(Shape shape) {
        return switch (shape) {
            case Circle(int radius) -> radius;
            case Square(int side) -> side;
            case Group(Circle(int radius), Square(int side)) -> radius + side;
            case Group g -> 0;
        };
    }

    private static void records(int n) {
        for (int i = 0; i < n; i++) sink += parts(some(i));
    }

    private static void nested(int n) {
        for (int i = 0; i < n; i++) {
            Object o = new Group(new Circle(i), new Square(2));
            if (o instanceof Group(Circle(var r), Square(var s))) sink += r + s;
        }
    }

    private static void guarded(int n) {
        for (int i = 0; i < n; i++) {
            Object o = i + 1000;
            sink += switch (o) {
                case Integer k when k > 5000 -> k;
                case Integer k -> k + 1;
                case String s -> s.length();
                default -> 0;
            };
        }
    }

    private static void enums(int n) {
        for (int i = 0; i < n; i++) {
            Colour c = COLOURS[i % 3];
            Object o = switch (c) {
                case RED -> new Circle(i);
                case Colour d when d == Colour.GREEN -> new Square(i);
                default -> new Circle(2);
            };
            if (o instanceof Circle k) sink += k.radius;
        }
    }

    private static void reversed(int n) {
        for (int i = 0; i < n; i++) {
            for (String s : WORDS.reversed()) sink += s.length();
        }
    }
}
