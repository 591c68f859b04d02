package mechanisms;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;

/** Objects that are read from a stream: no constructor of their own runs. */
final class Serial {
    static class Parent {
        final Object made = null;
    }

    static class Letter extends Parent implements Serializable {
        private static final long serialVersionUID = 1;
        final int number = 7;
        final int[] numbers = {1, 2, 3};
        final Stamp[] stamps = {new Stamp()};
    }

    static class Stamp implements Serializable {
        private static final long serialVersionUID = 1;
    }

    private static final byte[] WRITTEN = written();

    private Serial() {}

    private static byte[] written() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(new Letter());
        } catch (IOException e) {
            throw new ExceptionInInitializerError(e);
        }
        return bytes.toByteArray();
    }

    @Makes(value = {"mechanisms.Serial$Letter", "mechanisms.Serial$Stamp", "mechanisms.Serial$Stamp[]"}, oneIn = 10)
    static void read(int n) throws IOException, ClassNotFoundException {
        for (int i = 0; i < n; i++) {
            try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(WRITTEN))) {
                Sink.sink = in.readObject();
            }
        }
    }
}
