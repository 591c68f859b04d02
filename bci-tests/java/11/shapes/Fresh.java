package shapes;

/**
 * An enum that is loaded again and again, by a class loader of its own each time. It is no member of another class,
 * because its nest would end at the loader.
 */
enum Fresh {
    ONE,
    TWO,
    THREE {
        @Override
        int value() {
            return 3;
        }
    };

    int value() {
        return 1;
    }
}
