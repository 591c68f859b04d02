package martini.junit;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What a piece of code has allocated on the current thread: every allocation that was executed, by class and site. */
public final class Allocations {
    /** Sites that a message names. */
    private static final int NAMED = 10;
    /** What the counting itself allocates. */
    private static final String OWN = "martini.junit.Counts";

    private final List<Site> sites;

    private Allocations(List<Site> sites) {
        this.sites = sites;
    }

    /**
     * Runs {@code body} and counts what it allocates on this thread. What is done only once, such as the initialisation of a class,
     * counts too: run the body some times before.
     *
     * @throws IllegalStateException if the JVM has no agent of Martini's that counts
     */
    public static Allocations during(Runnable body) {
        byte[] before = Counts.now();
        body.run();
        byte[] after = Counts.now();
        return between(before, after);
    }

    static Allocations between(byte[] before, byte[] after) {
        Map<String, long[]> earlier = new HashMap<>();
        lines(before).forEach(line -> earlier.put(line.key, new long[] {line.objects, line.bytes}));
        List<Site> sites = new ArrayList<>();
        for (Site site : lines(after)) {
            long[] known = earlier.getOrDefault(site.key, new long[2]);
            Site made = new Site(site.key, site.objects - known[0], site.bytes - known[1]);
            if ((made.objects != 0 || made.bytes != 0) && !made.code().equals(OWN)) {
                sites.add(made);
            }
        }
        return new Allocations(sites);
    }

    private static List<Site> lines(byte[] counts) {
        return new String(counts, StandardCharsets.UTF_8).lines().map(Site::parse).collect(Collectors.toList());
    }

    /** Only objects of these classes; all if there is none. A {@code *} stands for any characters. */
    public Allocations of(String... classes) {
        return new Allocations(matching(classes, Site::type));
    }

    /** Only what the code of these classes allocated; all if there is none. A {@code *} stands for any characters. */
    public Allocations in(String... classes) {
        return new Allocations(matching(classes, Site::code));
    }

    private List<Site> matching(String[] patterns, java.util.function.Function<Site, String> name) {
        if (patterns.length == 0) {
            return sites;
        }
        List<Pattern> compiled = new ArrayList<>();
        for (String pattern : patterns) {
            compiled.add(Pattern.compile(Pattern.quote(pattern).replace("*", "\\E.*\\Q")));
        }
        return sites.stream()
                .filter(site -> compiled.stream().anyMatch(pattern -> pattern.matcher(name.apply(site)).matches()))
                .collect(Collectors.toList());
    }

    /** The number of objects. */
    public long objects() {
        return sites.stream().mapToLong(site -> site.objects).sum();
    }

    /** Their bytes. */
    public long bytes() {
        return sites.stream().mapToLong(site -> site.bytes).sum();
    }

    /**
     * Fails if there is more.
     *
     * @throws AssertionError which names the sites
     */
    public void expectAtMost(long objects, long bytes) {
        if (objects() <= objects && bytes() <= bytes) {
            return;
        }
        String budget = objects() > objects ? objects + " objects" : bytes + " bytes";
        throw new AssertionError(this + "\nmore than the budget of " + budget);
    }

    /** The sum, and the sites with the most objects. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("allocated " + objects() + " objects (" + bytes() + " bytes)");
        sites.stream()
                .sorted(Comparator.comparingLong((Site site) -> site.objects).reversed())
                .limit(NAMED)
                .forEach(site -> text.append("\n  ").append(site));
        if (sites.size() > NAMED) {
            text.append("\n  and at ").append(sites.size() - NAMED).append(" more sites");
        }
        return text.toString();
    }

    /** What was allocated of one class at one site. */
    private static final class Site {
        /** Class, class and method of the site, and line, with tabs between. */
        final String key;
        final long objects;
        final long bytes;

        Site(String key, long objects, long bytes) {
            this.key = key;
            this.objects = objects;
            this.bytes = bytes;
        }

        static Site parse(String line) {
            String[] columns = line.split("\t", 3);
            return new Site(columns[2], Long.parseLong(columns[0]), Long.parseLong(columns[1]));
        }

        String type() {
            return key.split("\t")[0];
        }

        String code() {
            return key.split("\t")[1];
        }

        @Override
        public String toString() {
            String[] columns = key.split("\t");
            return String.format("%,d %s (%,d bytes) at %s.%s:%s", objects, columns[0], bytes, columns[1], columns[2], columns[3]);
        }
    }
}
