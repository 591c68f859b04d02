package martini.junit;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What a piece of code has allocated on the current thread: every allocation that was executed, by class and site. */
public final class Allocations {
    /** Sites that a message names. */
    private static final int NAMED = 10;
    /** Columns of the agent's report up to here are numbers, class and site; those of a stack follow. */
    private static final int SITE_END = 6;
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
        byte[] before = Counts.begin();
        byte[] after;
        try {
            body.run();
        } finally {
            after = Counts.end();
        }
        return between(before, Counts.known(after));
    }

    static Allocations between(byte[] before, byte[] after) {
        Map<List<String>, Map<List<String>, long[]>> sites = new LinkedHashMap<>();
        add(sites, after, 1);
        add(sites, before, -1);
        List<Site> made = new ArrayList<>();
        sites.forEach((columns, sums) -> {
            long[] all = sums.remove(List.<String>of());
            if (all != null && (all[0] != 0 || all[1] != 0) && !columns.get(1).equals(OWN)) {
                made.addAll(byLine(columns, all, sums));
            }
        });
        return new Allocations(made);
    }

    /** Adds a report of the agent: by class and site, and then by stack, where the empty one stands for the whole site. */
    private static void add(Map<List<String>, Map<List<String>, long[]>> sites, byte[] report, int sign) {
        new String(report, StandardCharsets.UTF_8).lines().forEach(line -> {
            List<String> columns = Arrays.asList(line.split("\t"));
            long[] sum = sites.computeIfAbsent(columns.subList(2, SITE_END), any -> new LinkedHashMap<>())
                    .computeIfAbsent(columns.subList(SITE_END, columns.size()), any -> new long[2]);
            sum[0] += sign * Long.parseLong(columns.get(0));
            sum[1] += sign * Long.parseLong(columns.get(1));
        });
    }

    /** A site by the lines that call it. What no stack was seen of is a part of its own, so that the parts add up to the site. */
    private static List<Site> byLine(List<String> columns, long[] all, Map<List<String>, long[]> stacks) {
        Map<String, Site> lines = new LinkedHashMap<>();
        stacks.forEach((frames, sum) -> {
            Site part = Site.of(columns, frames, sum[0], sum[1]);
            lines.merge(part.place(), part, (one, other) -> one.with(one.objects + other.objects, one.bytes + other.bytes));
        });
        List<Site> parts = new ArrayList<>(lines.values());
        parts.removeIf(part -> part.objects <= 0 || part.bytes < 0);
        Site whole = Site.of(columns, List.of(), all[0], all[1]);
        Site rest = whole.with(
                all[0] - parts.stream().mapToLong(part -> part.objects).sum(), all[1] - parts.stream().mapToLong(part -> part.bytes).sum());
        if (rest.objects < 0 || rest.bytes < 0) {
            // Something was seen, and taken off the site since: an array that did not fit into memory.
            return List.of(whole);
        }
        if (rest.objects > 0 || rest.bytes > 0) {
            parts.add(rest);
        }
        return parts;
    }

    /** Only objects of these classes; all if there is none. A {@code *} stands for any characters. */
    public Allocations of(String... classes) {
        return new Allocations(matching(classes, site -> site.type));
    }

    /** Only what the code of these classes allocated; all if there is none. A {@code *} stands for any characters. */
    public Allocations in(String... classes) {
        return new Allocations(matching(classes, site -> site.code));
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
}
