/**
 * A JSON reader and writer that allocates as such programs do, and counts every allocation it performs: nodes,
 * strings, growing arrays. Nothing of it is hidden in library code, so the count is exact.
 */
final class Json {
    /** Allocations performed by this instance since it was made. */
    long allocations;

    private char[] text;
    private int at;

    /** A value of a document. */
    abstract static class Node {}

    /** true, false or null. */
    static final class Literal extends Node {
        final char first;

        Literal(char first) {
            this.first = first;
        }
    }

    /** A number, kept as an integer and the digits behind the point. */
    static final class Num extends Node {
        final long value;
        final int decimals;

        Num(long value, int decimals) {
            this.value = value;
            this.decimals = decimals;
        }
    }

    /** A string of its own characters. */
    static final class Text extends Node {
        final char[] chars;

        Text(char[] chars) {
            this.chars = chars;
        }
    }

    /** Elements of an array; of an object, keys and values in turn. */
    static final class Composite extends Node {
        final boolean object;
        Node[] children;
        int size;

        Composite(boolean object, Node[] children) {
            this.object = object;
            this.children = children;
        }
    }

    /** The tree of a document. */
    Node parse(char[] document) {
        text = document;
        at = 0;
        return value();
    }

    private Node value() {
        char c = text[at];
        switch (c) {
            case '{':
            case '[':
                return composite(c == '{');
            case '"':
                return string();
            case 't':
            case 'n':
                at += 4;
                allocations++;
                return new Literal(c);
            case 'f':
                at += 5;
                allocations++;
                return new Literal(c);
            default:
                return number();
        }
    }

    private Node composite(boolean object) {
        char end = object ? '}' : ']';
        allocations += 2;
        Composite node = new Composite(object, new Node[4]);
        at++;
        while (text[at] != end) {
            if (text[at] == ',' || text[at] == ':') at++;
            add(node, value());
        }
        at++;
        return node;
    }

    private void add(Composite node, Node child) {
        if (node.size == node.children.length) {
            allocations++;
            Node[] larger = new Node[node.size * 2];
            System.arraycopy(node.children, 0, larger, 0, node.size);
            node.children = larger;
        }
        node.children[node.size++] = child;
    }

    private Node string() {
        int from = ++at;
        while (text[at] != '"') at++;
        allocations += 2;
        char[] chars = new char[at - from];
        System.arraycopy(text, from, chars, 0, chars.length);
        at++;
        return new Text(chars);
    }

    private Node number() {
        boolean negative = text[at] == '-';
        if (negative) at++;
        long value = 0;
        int decimals = -1;
        for (; at < text.length; at++) {
            char c = text[at];
            if (c == '.') {
                decimals = 0;
            } else if (c >= '0' && c <= '9') {
                value = value * 10 + (c - '0');
                if (decimals >= 0) decimals++;
            } else {
                break;
            }
        }
        allocations++;
        return new Num(negative ? -value : value, decimals);
    }

    private char[] out;
    private int length;

    /** The text of a tree. */
    char[] print(Node node) {
        allocations++;
        out = new char[64];
        length = 0;
        write(node);
        allocations++;
        char[] exact = new char[length];
        System.arraycopy(out, 0, exact, 0, length);
        out = null;
        return exact;
    }

    private void write(Node node) {
        if (node instanceof Composite) {
            Composite composite = (Composite) node;
            put(composite.object ? '{' : '[');
            for (int i = 0; i < composite.size; i++) {
                if (i > 0) put(composite.object && i % 2 == 1 ? ':' : ',');
                write(composite.children[i]);
            }
            put(composite.object ? '}' : ']');
        } else if (node instanceof Text) {
            put('"');
            for (char c : ((Text) node).chars) put(c);
            put('"');
        } else if (node instanceof Num) {
            write((Num) node);
        } else {
            char first = ((Literal) node).first;
            String word = first == 't' ? "true" : first == 'f' ? "false" : "null";
            for (int i = 0; i < word.length(); i++) put(word.charAt(i));
        }
    }

    private void write(Num num) {
        long value = num.value;
        if (value < 0) {
            put('-');
            value = -value;
        }
        allocations++;
        char[] digits = new char[20];
        int n = 0;
        do {
            digits[n++] = (char) ('0' + value % 10);
            value /= 10;
        } while (value > 0 || n <= num.decimals);
        while (n > 0) {
            if (n == num.decimals) put('.');
            put(digits[--n]);
        }
    }

    private void put(char c) {
        if (length == out.length) {
            allocations++;
            char[] larger = new char[length * 2];
            System.arraycopy(out, 0, larger, 0, length);
            out = larger;
        }
        out[length++] = c;
    }
}
