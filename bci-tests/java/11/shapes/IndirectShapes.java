package shapes;

import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** Objects for which no source line says {@code new}: reflection, method handles, lambdas, proxies, fresh classes. */
final class IndirectShapes {
    static class Reflected {
        Reflected() {}
    }

    static class ReflectedLater {
        final int value;

        ReflectedLater(int value, Object other) {
            this.value = value;
        }
    }

    static class ReflectedThrowing {
        ReflectedThrowing() {
            throw ConstructorShapes.STOP;
        }
    }

    static class ByHandle {
        final int value;

        ByHandle(int value) {
            this.value = value;
        }
    }

    static class ByReference {}

    private static final MethodHandle BY_HANDLE = handle();

    private static MethodHandle handle() {
        try {
            return MethodHandles.lookup().findConstructor(ByHandle.class, MethodType.methodType(void.class, int.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static List<Shape> all() {
        return List.of(
                // Not warm: the first fifteen calls go through the native accessor, the others through a generated
                // one (JDK 11 and 17), or all through a method handle (18 and newer).
                new Shape("reflection", Shape.OWN, false) {
                    @Override
                    void make(int n) throws Exception {
                        Constructor<Reflected> constructor = Reflected.class.getDeclaredConstructor();
                        for (int i = 0; i < n; i++) {
                            Window.sink = constructor.newInstance();
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.of(Reflected.class, n);
                    }
                },
                new Shape("reflection-arguments", Shape.OWN) {
                    @Override
                    @SuppressWarnings("deprecation")
                    void make(int n) throws Exception {
                        Constructor<?> constructor =
                                ReflectedLater.class.getDeclaredConstructor(int.class, Object.class);
                        Constructor<?> throwing = ReflectedThrowing.class.getDeclaredConstructor();
                        for (int i = 0; i < n; i++) {
                            Window.sink = constructor.newInstance(i, null);
                            Window.sink = Reflected.class.newInstance();
                        }
                        for (int i = 0; i < n / 10; i++) {
                            try {
                                Window.sink = throwing.newInstance();
                            } catch (InvocationTargetException e) {
                                Window.sink = e;
                            }
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.of(ReflectedLater.class, n).of(Reflected.class, n)
                                .of(ReflectedThrowing.class, n / 10).of(InvocationTargetException.class, n / 10);
                    }
                },
                new Shape("method-handle", Shape.OWN) {
                    @Override
                    void make(int n) throws Throwable {
                        MethodHandle local = handle();
                        for (int i = 0; i < n; i++) {
                            Window.sink = (Object) (ByHandle) BY_HANDLE.invokeExact(i);
                            Window.sink = (Object) local.invoke(i);
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.of(ByHandle.class, 2L * n);
                    }
                },
                new Lambdas(),
                new Shape("proxy", Shape.OWN) {
                    private Class<?> proxy;

                    @Override
                    void make(int n) {
                        for (int i = 0; i < n / 20; i++) {
                            Object made = Proxy.newProxyInstance(IndirectShapes.class.getClassLoader(),
                                    new Class<?>[] {Supplier.class}, (self, method, arguments) -> null);
                            proxy = made.getClass();
                            Window.sink = made;
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        expected.of(proxy, n / 20);
                    }
                },
                new Shape("fresh-enums", Shape.OWN) {
                    @Override
                    void make(int n) throws Exception {
                        for (int i = 0; i < n / 100; i++) {
                            Class.forName(Fresh.class.getName(), true, new FreshLoader());
                        }
                    }

                    @Override
                    void expect(int n, Expect expected) {
                        int loads = n / 100;
                        // The array is the enum's own table of its constants.
                        expected.of(Fresh.class, 2L * loads).of(Fresh.class.getName() + "$1", loads)
                                .arrays(Fresh.class, 3, loads).of(FreshLoader.class, loads);
                    }
                });
    }

    /** Lambdas and method references that capture something and are objects therefore, each time anew. */
    static final class Lambdas extends Shape {
        private Class<?> lambda;
        private Class<?> bound;

        Lambdas() {
            super("lambda", OWN);
        }

        @Override
        void make(int n) {
            Supplier<Object> constructing = ByReference::new;
            for (int i = 0; i < n; i++) {
                int captured = i;
                IntSupplier capturing = () -> captured;
                Supplier<String> receiver = name::toString;
                Window.sink = capturing;
                Window.sink = receiver;
                Window.sink = constructing.get();
                lambda = capturing.getClass();
                bound = receiver.getClass();
            }
        }

        @Override
        void expect(int n, Expect expected) {
            expected.of(lambda, n).of(bound, n).of(ByReference.class, n);
        }
    }

    /** Defines {@link Fresh} itself and leaves every other class to its parent. */
    static final class FreshLoader extends ClassLoader {
        FreshLoader() {
            super(IndirectShapes.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(Fresh.class.getName())) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }
}
