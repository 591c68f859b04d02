package shapes;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Externalizable;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.List;

/** Objects that come out of a stream: their own constructors do not run, those of some ancestor do. */
final class SerialShapes {
    /** Whose constructor runs for its serializable descendants. */
    static class Unserializable {
        int unsaved = 1;
    }

    static class Middle extends Unserializable implements Serializable {
        private static final long serialVersionUID = 1;
        int saved = 2;
    }

    static class Leaf extends Middle {
        private static final long serialVersionUID = 1;
        final int more;

        Leaf(int more) {
            this.more = more;
        }
    }

    static class Flat implements Serializable {
        private static final long serialVersionUID = 1;
        Flat next;
    }

    public static class External implements Externalizable {
        private int value;

        /** For the stream. */
        public External() {}

        External(int value) {
            this.value = value;
        }

        @Override
        public void writeExternal(ObjectOutput out) throws java.io.IOException {
            out.writeInt(value);
        }

        @Override
        public void readExternal(ObjectInput in) throws java.io.IOException {
            value = in.readInt();
        }
    }

    static List<Shape> all() {
        return List.of(new Shape("deserialized", Shape.OWN) {
            private byte[] stream;

            @Override
            void prepare(int n) throws Exception {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
                    // The same objects again and again, which a stream that is reset takes for new ones.
                    Flat flat = new Flat();
                    flat.next = new Flat();
                    Object[] written = {new Leaf(5), new Middle(), flat, new External(6)};
                    for (int i = 0; i < n / 2; i++) {
                        for (Object object : written) {
                            out.writeObject(object);
                        }
                        out.reset();
                    }
                }
                stream = bytes.toByteArray();
            }

            @Override
            void make(int n) throws Exception {
                try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(stream))) {
                    for (int i = 0; i < n / 2 * 4; i++) {
                        Window.sink = in.readObject();
                    }
                }
            }

            @Override
            void expect(int n, Expect expected) {
                int rounds = n / 2;
                expected.of(Leaf.class, rounds).of(Middle.class, rounds).of(Flat.class, 2L * rounds)
                        .of(External.class, rounds);
            }
        });
    }
}
