package drops;

import java.util.Arrays;
import java.util.BitSet;

/** All members of one class in the order of their birth: who is kept, and how old each is. */
final class Cohort {
    private final String name;
    private final Object[] members;
    private final long[] pausesAtBirth;
    private final BitSet dropped = new BitSet();
    private int size;

    Cohort(String name, int capacity) {
        this.name = name;
        members = new Object[capacity];
        pausesAtBirth = new long[capacity];
    }

    /** Takes in a member that was born while the JVM had paused {@code pauses} times. */
    void add(Object member, long pauses) {
        members[size] = member;
        pausesAtBirth[size] = pauses;
        size++;
    }

    /** Lets go of the members {@code from} to {@code to}, each {@code step}th of them. */
    void drop(int from, int to, int step) {
        for (int i = from; i < to; i += step) {
            members[i] = null;
            dropped.set(i);
        }
    }

    int size() {
        return size;
    }

    /** Prints the recount: total, live, sum of the ages of the live, number of different ages; then who was dropped. */
    void print(long pausesNow, boolean agesKnown) {
        long ageSum = 0;
        long[] ages = new long[size];
        int live = 0;
        for (int i = 0; i < size; i++) {
            if (!dropped.get(i)) {
                ages[live] = pausesNow - pausesAtBirth[i];
                ageSum += ages[live];
                live++;
            }
        }
        long generations = Arrays.stream(ages, 0, live).distinct().count();
        System.out.println("class\t" + name + '\t' + size + '\t' + live + '\t' + (agesKnown ? ageSum : "-") + '\t'
                + (agesKnown ? generations : "-"));
        StringBuilder freed = new StringBuilder("freed\t").append(name).append('\t');
        dropped.stream().forEach(i -> freed.append(i).append(' '));
        System.out.println(freed);
    }
}
