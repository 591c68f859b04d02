import java.io.File;
import java.util.TreeMap;
import org.openjdk.jmc.common.IMCStackTrace;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.common.item.IMemberAccessor;
import org.openjdk.jmc.common.item.IType;
import org.openjdk.jmc.common.unit.IQuantity;
import org.openjdk.jmc.common.unit.UnitLookup;
import org.openjdk.jmc.flightrecorder.JfrAttributes;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;
import org.openjdk.jmc.flightrecorder.jdk.JdkAttributes;

/** What JDK Mission Control's parser finds in a recording: of each type the events, their nanoseconds, bytes and frames. */
class Totals {
    public static void main(String[] arguments) throws Exception {
        TreeMap<String, long[]> totals = new TreeMap<>();
        for (IItemIterable items : JfrLoaderToolkit.loadEvents(new File(arguments[0]))) {
            IType<IItem> type = items.getType();
            IMemberAccessor<IQuantity, IItem> duration = JfrAttributes.DURATION.getAccessor(type);
            IMemberAccessor<IQuantity, IItem> weight = JdkAttributes.SAMPLE_WEIGHT.getAccessor(type);
            IMemberAccessor<IMCStackTrace, IItem> stack = JfrAttributes.EVENT_STACKTRACE.getAccessor(type);
            long[] sums = totals.computeIfAbsent(type.getIdentifier(), name -> new long[4]);
            for (IItem item : items) {
                sums[0]++;
                if (duration != null) {
                    sums[1] += duration.getMember(item).longValueIn(UnitLookup.NANOSECOND);
                }
                if (weight != null) {
                    sums[2] += weight.getMember(item).longValueIn(UnitLookup.BYTE);
                }
                if (stack != null && stack.getMember(item) != null) {
                    sums[3] += stack.getMember(item).getFrames().size();
                }
            }
        }
        totals.forEach((name, sums) -> System.out.println(
            name + " " + sums[0] + " " + sums[1] + " " + sums[2] + " " + sums[3]));
    }
}
