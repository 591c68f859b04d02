package graph;

/** Loaded by a loader of its own, which lives as long as an instance. */
public final class Leaked {
    static final Object OF_THE_CLASS = new Leaked[1];
}
