//! The schemas, made of the model's table.

use std::fmt::Write;

use trace::model::{
    ArchiveRefusal, ArrayCode, AttributeSpec, CodeTier, CountSource, Element, ElementSpec, FilterMode, Flag, Presence,
    RootType, ThreadKind, ThreadState, WaitEnd, Wildcard,
};

/// What a schema is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schema {
    /// What Martini writes.
    Strict,
    /// What Martini reads.
    Lenient,
}

use Schema::Strict;

const AGAIN: &str =
    "Written from the table in crates/trace. To write it again: MARTINI_UPDATE=1 cargo test -p trace of_the_table";

const STRICT: &str = "What Martini writes: the TPTP heap and thread trace with Martini's extensions.
  docs/reference/trace-format.md explains it. Order, define before use, and the pairs of events cannot be said here:
  `martini validate` checks them.";

const LENIENT: &str =
    "What Martini reads: TPTP traces of any age, from the JVMPI agent to Martini. Only attributes without which an
  element means nothing are required; elements and attributes that are not listed are allowed.
  A trace without its end tag is no well-formed XML and needs the tag added before a schema can say anything.";

const LENIENT_ROOT: &str = r###"  <xs:complexType name="Trace">
    <xs:annotation><xs:documentation>Elements declared below are checked, others pass.</xs:documentation></xs:annotation>
    <xs:sequence>
      <xs:any namespace="##any" processContents="lax" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence>
    <xs:anyAttribute namespace="##any" processContents="skip"/>
  </xs:complexType>
  <xs:element name="TRACE" type="Trace"/>
  <xs:element name="traceRoot" type="Trace"/>
"###;

impl Schema {
    pub(crate) fn file(self) -> &'static str {
        if self == Strict { "martini-trace.xsd" } else { "tptp-trace.xsd" }
    }

    /// The whole file.
    pub(crate) fn text(self) -> String {
        let about = if self == Strict { STRICT } else { LENIENT };
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!--\n  {about}\n  {AGAIN}\n-->\n\
             <xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" elementFormDefault=\"unqualified\">\n\n"
        );
        for (name, about, content) in self.types() {
            let _ = writeln!(
                out,
                "  <xs:simpleType name=\"{name}\">\n    {}\n    {content}\n  </xs:simpleType>",
                note(about)
            );
        }
        out += "\n";
        if self == Strict {
            out += "  <xs:element name=\"TRACE\">\n    <xs:complexType>\n      <xs:choice minOccurs=\"0\" maxOccurs=\"unbounded\">\n";
            for ElementSpec { name, .. } in Element::SPECS {
                let _ = writeln!(out, "        <xs:element name=\"{name}\" type=\"{name}\"/>");
            }
            out += "      </xs:choice>\n    </xs:complexType>\n  </xs:element>\n";
        } else {
            out += LENIENT_ROOT;
        }
        Element::SPECS.iter().for_each(|spec| self.element(spec, &mut out));
        out + "</xs:schema>\n"
    }

    /// The types of attributes: name, meaning, and what is between the tags.
    fn types(self) -> Vec<(&'static str, &'static str, String)> {
        let number = |of: &str| format!("<xs:restriction base=\"xs:{of}\"/>");
        let pattern = |of: &str, pattern: &str| {
            format!("<xs:restriction base=\"xs:{of}\"><xs:pattern value=\"{pattern}\"/></xs:restriction>")
        };
        let one_of = |words: &[&str]| pattern("string", &words.join("|"));
        let by = |strict: String, lenient: String| if self == Strict { strict } else { lenient };
        macro_rules! words {
            ($name:ident) => {
                one_of(&$name::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>())
            };
        }
        let codes: Vec<String> =
            (0..=u8::MAX).filter(|&code| ArrayCode(code).is_known()).map(|code| code.to_string()).collect();
        let time = by(pattern("string", r"[0-9]+\.[0-9]{9}"), pattern("string", r"[0-9]+(\.[0-9]{1,9})?"));
        let id = by(pattern("unsignedLong", "0|[1-9][0-9]*"), number("unsignedLong"));
        let array = by(
            pattern("unsignedByte", &codes.join("|")),
            "<xs:union memberTypes=\"xs:unsignedByte xs:boolean\"/>".into(),
        );
        let frames = pattern("string", "([0-9]+:[0-9]+( [0-9]+:[0-9]+)*)?");
        vec![
            ("Time", "Seconds since 1 January 1970 UTC, or a length of time in seconds.", time),
            (
                "Id",
                "Id of a thread, class, method, object, stack, function or dump; 0 is none. Numbers may come back.",
                id,
            ),
            ("Ids", "Ids with blanks between.", "<xs:list itemType=\"Id\"/>".into()),
            ("Line", "Source line; 0 is unknown.", by(number("unsignedInt"), number("long"))),
            ("Flag", "0 is no, 1 is yes.", words!(Flag)),
            ("FilterMode", "What a filter does with what it matches.", words!(FilterMode)),
            ("Wildcard", "Where the * of a pattern stood.", words!(Wildcard)),
            ("WaitEnd", "What ended a wait.", words!(WaitEnd)),
            ("ThreadState", "What a thread does, as in java.lang.Thread.State.", words!(ThreadState)),
            ("ArchiveRefusal", "Why a JVM does not use an archive of classes.", words!(ArchiveRefusal)),
            ("CodeTier", "What compiled a piece of code.", words!(CodeTier)),
            ("ThreadKind", "What a thread is that does not run Java.", by(words!(ThreadKind), number("string"))),
            ("RootType", "Why the collector keeps an object.", by(words!(RootType), number("string"))),
            ("CountSource", "How allocations were counted, other than by bytecode that counts.", words!(CountSource)),
            (
                "ArrayCode",
                "JVMPI code: 0 object, 2 array of references, 4 boolean, 5 char, 6 float, 7 double, 8 byte, 9 short, 10 int, \
                 11 long. Old traces may have true or false.",
                array,
            ),
            (
                "Frames",
                "Call stack, innermost frame first: methodId:line, separated by blanks; line 0 is unknown.",
                frames,
            ),
            (
                "FrameTypes",
                "A letter for each frame: I interpreted, 1 to 3 C1 at that tier, 4 C2, N native, i inlined into the next \
                 frame outwards that is not i.",
                pattern("string", "[I1234Ni]*"),
            ),
        ]
    }

    fn element(self, spec: &ElementSpec, out: &mut String) {
        let ElementSpec { name, about, .. } = spec;
        let about: Vec<&str> = about.iter().map(|line| line.trim()).take_while(|line| !line.is_empty()).collect();
        let about = note(&about.join(" ").replace('`', ""));
        if self == Strict {
            let _ = writeln!(out, "  <xs:complexType name=\"{name}\">\n    {about}");
        } else {
            let _ = writeln!(out, "  <xs:element name=\"{name}\">\n    {about}\n    <xs:complexType>");
        }
        let pad = if self == Strict { "    " } else { "      " };
        for attribute in spec.attributes.iter().filter(|attribute| !(self == Strict && is_old(spec, attribute))) {
            let is_needed = match attribute.presence {
                Presence::Required => true,
                Presence::Expected => self == Strict,
                Presence::Optional => false,
            };
            let needed = if is_needed { " use=\"required\"" } else { "" };
            let AttributeSpec { name, schema_type, .. } = attribute;
            let of = if name.ends_with("ineNumber") { "Line" } else { schema_type };
            let _ = writeln!(out, "{pad}<xs:attribute name=\"{name}\" type=\"{of}\"{needed}/>");
        }
        if self == Strict {
            // What any element may carry.
            let _ = writeln!(out, "{pad}<xs:attribute name=\"traceIdRef\" type=\"xs:string\"/>");
            let _ = writeln!(out, "{pad}<xs:attribute name=\"collationValue\" type=\"Id\"/>\n  </xs:complexType>");
        } else {
            let _ = writeln!(out, "{pad}<xs:anyAttribute namespace=\"##any\" processContents=\"skip\"/>");
            *out += "    </xs:complexType>\n  </xs:element>\n";
        }
    }
}

/// Whether only old traces have an attribute.
fn is_old(element: &ElementSpec, attribute: &AttributeSpec) -> bool {
    (element.name, attribute.name) == ("classDef", "threadIdRef")
}

fn note(text: &str) -> String {
    format!("<xs:annotation><xs:documentation>{text}</xs:documentation></xs:annotation>")
}
