package idioms;

import static idioms.Idiom.sink;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.*;
import java.util.stream.IntStream;

/** Lambdas, method references and what is built of them. */
public final class Functions {
    private final int value;

    private Functions(int value) {
        this.value = value;
    }

    int value() {
        return value;
    }

    int plus(int i) {
        return value + i;
    }

    private static int apply(IntUnaryOperator f, int i) {
        return f.applyAsInt(i);
    }

    public static Idiom[] all() {
        return new Idiom[] {
            new Idiom("capturing_lambda", Functions::capturing),
            new Idiom("two_captures", Functions::twoCaptures),
            new Idiom("lambda_passed_on", Functions::passedOn),
            new Idiom("nested_lambdas", Functions::nested),
            new Idiom("bound_reference", Functions::bound),
            new Idiom("unbound_reference", Functions::unbound),
            new Idiom("constructor_reference", Functions::constructor),
            new Idiom("array_constructor_reference", Functions::arrayConstructor),
            new Idiom("reference_array_constructor", Functions::referenceArrayConstructor),
            new Idiom("composed_functions", Functions::composed),
            new Idiom("optional_chain", Functions::optional),
            new Idiom("int_stream", Functions::intStream),
            new Idiom("stream_of_list", Functions::streamOfList),
            new Idiom("for_each_lambda", Functions::forEachLambda),
            new Idiom("anonymous_class", Functions::anonymous),
            new Idiom("serializable_lambda", Functions::serializable),
        };
    }

    private static void capturing(int n) {
        for (int i = 0; i < n; i++) {
            int k = i;
            IntSupplier f = () -> k + 1;
            sink += f.getAsInt();
        }
    }

    private static void twoCaptures(int n) {
        for (int i = 0; i < n; i++) {
            int k = i;
            long l = sink;
            LongSupplier f = () -> k + l;
            sink += f.getAsLong();
        }
    }

    private static void passedOn(int n) {
        for (int i = 0; i < n; i++) {
            int k = i;
            sink += apply(j -> j * k, i);
        }
    }

    private static void nested(int n) {
        for (int i = 0; i < n; i++) {
            int k = i;
            Supplier<IntSupplier> f = () -> () -> k + 1;
            sink += f.get().getAsInt();
        }
    }

    private static void bound(int n) {
        for (int i = 0; i < n; i++) {
            Functions o = new Functions(i);
            sink += apply(o::plus, i);
        }
    }

    private static void unbound(int n) {
        for (int i = 0; i < n; i++) {
            ToIntFunction<Functions> f = Functions::value;
            sink += f.applyAsInt(new Functions(i));
        }
    }

    private static void constructor(int n) {
        for (int i = 0; i < n; i++) {
            IntFunction<Functions> f = Functions::new;
            sink += f.apply(i).value;
        }
    }

    private static void arrayConstructor(int n) {
        for (int i = 0; i < n; i++) {
            IntFunction<int[]> f = int[]::new;
            sink += f.apply(3).length;
        }
    }

    private static void referenceArrayConstructor(int n) {
        for (int i = 0; i < n; i++) {
            IntFunction<String[]> f = String[]::new;
            sink += f.apply(3).length;
        }
    }

    private static void composed(int n) {
        for (int i = 0; i < n; i++) {
            int k = i;
            IntUnaryOperator f = j -> j + k;
            sink += f.andThen(j -> j * k).applyAsInt(i);
        }
    }

    private static void optional(int n) {
        for (int i = 0; i < n; i++) {
            int k = i;
            sink += Optional.of(new Functions(i)).map(o -> new Functions(o.value + k)).filter(o -> o.value != -k)
                    .map(Functions::value).orElse(0);
        }
    }

    private static void intStream(int n) {
        for (int i = 0; i < n; i += 10) {
            int k = i;
            sink += IntStream.range(0, 10).map(j -> j + k).filter(j -> j % 2 == 0).sum();
        }
    }

    private static final List<String> WORDS = Arrays.asList("one", "two", "three", "four");

    private static void streamOfList(int n) {
        for (int i = 0; i < n; i += 10) {
            int k = i;
            sink += WORDS.stream().map(String::length).filter(l -> l != k).mapToInt(Integer::intValue).sum();
        }
    }

    private static void forEachLambda(int n) {
        for (int i = 0; i < n; i++) {
            int k = i;
            WORDS.forEach(w -> sink += w.length() + k);
        }
    }

    private static void anonymous(int n) {
        for (int i = 0; i < n; i++) {
            int k = i;
            IntSupplier f = new IntSupplier() {
                @Override
                public int getAsInt() {
                    return k + 1;
                }
            };
            sink += f.getAsInt();
        }
    }

    private interface Kept extends IntSupplier, java.io.Serializable {}

    private static void serializable(int n) {
        for (int i = 0; i < n; i++) {
            int k = i;
            Kept f = () -> k + 1;
            sink += f.getAsInt();
        }
    }
}
