import java.io.File;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;

import org.netbeans.lib.profiler.heap.FieldValue;
import org.netbeans.lib.profiler.heap.GCRoot;
import org.netbeans.lib.profiler.heap.Heap;
import org.netbeans.lib.profiler.heap.HeapFactory;
import org.netbeans.lib.profiler.heap.Instance;
import org.netbeans.lib.profiler.heap.JavaClass;
import org.netbeans.lib.profiler.heap.ObjectArrayInstance;
import org.netbeans.lib.profiler.heap.ObjectFieldValue;

/**
 * Reads heap dumps with NetBeans' library and prints what is in each: roots by kind, and by class the instances, their bytes and
 * the references in them and in its static fields that lead to an object of the dump.
 */
public final class HeapLibrary {
    private HeapLibrary() {}

    public static void main(String[] files) throws Exception {
        for (String file : files) {
            System.out.println("dump " + file);
            Heap heap = HeapFactory.createHeap(new File(file));
            Map<String, Integer> roots = new TreeMap<>();
            for (Object root : heap.getGCRoots()) {
                roots.merge(((GCRoot) root).getKind(), 1, Integer::sum);
            }
            roots.forEach((kind, count) -> System.out.println("root " + count + " " + kind));
            Map<JavaClass, Integer> references = new java.util.HashMap<>();
            for (Iterator<?> all = heap.getAllInstancesIterator(); all.hasNext();) {
                Instance instance = (Instance) all.next();
                Iterable<?> values = instance instanceof ObjectArrayInstance
                        ? ((ObjectArrayInstance) instance).getValues() : instance.getFieldValues();
                references.merge(instance.getJavaClass(), objects(values), Integer::sum);
            }
            for (Object element : heap.getAllClasses()) {
                JavaClass javaClass = (JavaClass) element;
                int found = references.getOrDefault(javaClass, 0) + objects(javaClass.getStaticFieldValues());
                System.out.println("class " + javaClass.getInstancesCount() + " " + javaClass.getAllInstancesSize() + " "
                        + found + " " + javaClass.getName());
            }
        }
    }

    private static int objects(Iterable<?> values) {
        int found = 0;
        for (Object value : values) {
            if (value instanceof FieldValue) {
                value = value instanceof ObjectFieldValue ? ((ObjectFieldValue) value).getInstance() : null;
            }
            found += value == null ? 0 : 1;
        }
        return found;
    }
}
