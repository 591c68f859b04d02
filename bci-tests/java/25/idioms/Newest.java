package idioms;

import static idioms.Idiom.sink;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.Gatherers;

/** What came with Java 22 to 25. */
public final class Newest {
    private static final ScopedValue<Integer> NUMBER = ScopedValue.newInstance();
    private static final byte[] BYTES = new byte[64];

    public static Idiom[] all() {
        return new Idiom[] {
            new Idiom("memory_segment", Newest::segment),
            new Idiom("memory_slice", Newest::slice),
            new Idiom("scoped_value", Newest::scoped),
            new Idiom("gatherer", Newest::gatherer),
        };
    }

    private static void segment(int n) {
        for (int i = 0; i < n; i++) {
            sink += MemorySegment.ofArray(BYTES).get(ValueLayout.JAVA_BYTE, i & 63);
        }
    }

    private static void slice(int n) {
        MemorySegment all = MemorySegment.ofArray(BYTES);
        for (int i = 0; i < n; i++) {
            sink += all.asSlice(i & 31, 16).get(ValueLayout.JAVA_BYTE, 3);
        }
    }

    private static void scoped(int n) {
        for (int i = 0; i < n; i += 10) {
            int k = i + 1000;
            ScopedValue.where(NUMBER, k).run(() -> sink += NUMBER.get());
        }
    }

    private static void gatherer(int n) {
        for (int i = 0; i < n; i += 10) {
            sink += List.of(1, 2, 3, 4).stream().gather(Gatherers.windowFixed(2)).count();
        }
    }
}
