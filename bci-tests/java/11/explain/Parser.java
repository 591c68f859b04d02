package explain;

import java.util.HashMap;
import java.util.Map;

/** Clean: counts the words of a text, and makes a string of each word that it has not seen before only. */
public final class Parser {
    private static final int ROUNDS = 60;

    private Parser() {}

    public static void main(String[] args) {
        byte[] text = text();
        Map<String, int[]> words = new HashMap<>();
        int[][] counts = new int[1 << 16][];
        for (int round = 0; round < ROUNDS; round++) {
            parse(text, words, counts);
        }
        System.out.println(words.size() + " different words, \"word7\" " + words.get("word7")[0] + " times");
    }

    private static void parse(byte[] text, Map<String, int[]> words, int[][] counts) {
        int start = 0;
        int hash = 0;
        for (int at = 0; at < text.length; at++) {
            if (text[at] != ' ') {
                hash = hash * 31 + text[at];
                continue;
            }
            int slot = (hash ^ hash >>> 16) & counts.length - 1;
            if (counts[slot] == null) {
                String word = new String(text, start, at - start, java.nio.charset.StandardCharsets.US_ASCII);
                counts[slot] = words.computeIfAbsent(word, unused -> new int[1]);
            }
            counts[slot][0]++;
            start = at + 1;
            hash = 0;
        }
    }

    private static byte[] text() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 200_000; i++) {
            text.append("word").append(i * 7919L % 1_000).append(' ');
        }
        return text.toString().getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    }
}
