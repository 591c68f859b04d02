package mechanisms;

/** Where objects go that must not be optimised away. */
final class Sink {
    static volatile Object sink;

    private Sink() {}
}
