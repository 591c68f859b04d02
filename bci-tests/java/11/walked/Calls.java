package walked;

import java.util.function.Supplier;

/** Calls of the program's own methods: of many receivers, recursive, inlined, synchronized, with exceptions; loops without calls. */
final class Calls {
    static volatile Object sink;
    static volatile long sum;

    private static final Object[] NULLS = new Object[4];

    private Calls() {}

    interface Shape {
        double area(int size);
    }

    static final class Square implements Shape {
        @Override
        public double area(int size) {
            return size < 1 ? 1 : 2 + leaf(size);
        }
    }

    static final class Circle implements Shape {
        @Override
        public double area(int size) {
            return size < 1 ? 3 : 4 + leaf(size) * Math.sin(size);
        }
    }

    static final class Line implements Shape {
        @Override
        public double area(int size) {
            return Math.sqrt(size) + leaf(size - 1);
        }
    }

    static final class Dot implements Shape {
        @Override
        public double area(int size) {
            return Math.log(size + 2) + Math.pow(size, 1.1);
        }
    }

    private static double leaf(int size) {
        double x = size;
        for (int i = 0; i < 20; i++) {
            x = x * 1.0001 + i;
        }
        return x;
    }

    static void shapes() {
        Shape[] shapes = {new Square(), new Circle(), new Line(), new Dot()};
        double areas = 0;
        for (int i = 0; i < 20_000; i++) {
            areas += shapes[i & 3].area(i & 15);
        }
        sum += (long) areas;
    }

    static int recurse(int depth, Supplier<Object> then) {
        if (depth == 0) {
            sink = then.get();
            return 1;
        }
        int[] local = new int[depth & 7];
        return recurse(depth - 1, then) + local.length;
    }

    private static void throwing(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("thrown");
        }
        try {
            throwing(depth - 1);
        } catch (IllegalArgumentException e) {
            sink = e;
        }
    }

    static void exceptions() {
        for (int i = 0; i < 200; i++) {
            try {
                throwing(i & 31);
            } catch (IllegalStateException e) {
                sink = e;
            }
        }
        for (int i = 0; i < 1000; i++) {
            try {
                sink = NULLS[i & 7].hashCode();
            } catch (RuntimeException e) {
                sum++;
            }
        }
    }

    static long loop(int rounds) {
        long s = 0;
        for (int i = 0; i < rounds; i++) {
            s += i * 31L ^ (s >>> 3);
        }
        return s;
    }

    static double inlined(int rounds) {
        double s = 0;
        for (int i = 0; i < rounds; i++) {
            s += first(i);
        }
        return s;
    }

    private static double first(int i) {
        return second(i) + 1;
    }

    private static double second(int i) {
        return third(i) * 2;
    }

    private static double third(int i) {
        return i % 5 == 0 ? i / 3.0 : i;
    }

    static synchronized int synchronizedCalls(int depth) {
        return depth < 2 ? 1 : synchronizedCalls(depth - 1) + synchronizedCalls(depth - 2);
    }

    static int fibonacci(int depth) {
        return depth < 2 ? 1 : fibonacci(depth - 1) + fibonacci(depth - 2);
    }
}
