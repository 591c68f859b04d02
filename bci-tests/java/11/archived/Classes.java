package archived;

import java.io.StringReader;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.net.http.HttpClient;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

/** Loads more than a thousand classes of the JDK, and some of its own. */
public final class Classes {
    interface Rule {
        int apply(int value);
    }

    static class Increment implements Rule {
        public int apply(int value) {
            return value + 1;
        }
    }

    private Classes() {}

    public static void main(String[] arguments) throws Exception {
        Rule[] rules = {new Increment(), value -> value * 3};
        StringWriter out = new StringWriter();
        StreamSource document = new StreamSource(new StringReader("<a><b/></a>"));
        TransformerFactory.newInstance().newTransformer().transform(document, new StreamResult(out));
        int sum = rules[0].apply(1) + rules[1].apply(2) + out.toString().length();
        sum += HttpClient.newHttpClient().version().hashCode();
        sum += DateTimeFormatter.ISO_ZONED_DATE_TIME.format(ZonedDateTime.now()).length();
        System.out.println("result " + (sum != 0));
        System.out.println("loaded " + ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount());
    }
}
