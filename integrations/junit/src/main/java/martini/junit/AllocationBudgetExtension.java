package martini.junit;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.Optional;

import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Runs tests that have an {@link AllocationBudget}, and fails those that exceed it. */
public final class AllocationBudgetExtension implements InvocationInterceptor {
    @Override
    public void interceptTestMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> context, ExtensionContext extension)
            throws Throwable {
        run(invocation, context, extension);
    }

    @Override
    public void interceptTestTemplateMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> context, ExtensionContext extension)
            throws Throwable {
        run(invocation, context, extension);
    }

    private static void run(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> context, ExtensionContext extension)
            throws Throwable {
        Optional<AllocationBudget> found = AnnotationSupport.findAnnotation(context.getExecutable(), AllocationBudget.class);
        AllocationBudget budget = found.or(() -> AnnotationSupport.findAnnotation(extension.getRequiredTestClass(), AllocationBudget.class))
                .orElseThrow(() -> new ExtensionConfigurationException("AllocationBudgetExtension works by @AllocationBudget alone"));
        if (budget.objects() == AllocationBudget.UNLIMITED && budget.bytes() == AllocationBudget.UNLIMITED) {
            throw new ExtensionConfigurationException("@AllocationBudget has no limit; give it objects or bytes, such as objects = 0");
        }
        // The platform's own way to call a test allocates.
        invocation.skip();
        MethodHandle body = body(context);
        for (int i = 0; i < budget.warmups(); i++) {
            body.invokeExact();
        }
        byte[] before = Counts.begin();
        byte[] after;
        try {
            body.invokeExact();
        } finally {
            after = Counts.end();
        }
        Allocations.between(before, Counts.known(after)).of(budget.of()).in(budget.in()).expectAtMost(budget.objects(), budget.bytes());
    }

    /** The test's method with its object and its arguments, ready to be called. */
    private static MethodHandle body(ReflectiveInvocationContext<Method> context) throws IllegalAccessException {
        Method method = context.getExecutable();
        method.setAccessible(true);
        MethodHandle handle = MethodHandles.lookup().unreflect(method);
        Object target = context.getTarget().orElse(null);
        if (target != null) {
            handle = handle.bindTo(target);
        }
        Object[] arguments = context.getArguments().toArray();
        handle = MethodHandles.insertArguments(handle, 0, arguments);
        return handle.asType(handle.type().changeReturnType(void.class));
    }
}
