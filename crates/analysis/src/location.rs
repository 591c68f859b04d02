//! A line of a method, shown as in a Java stack trace.

use std::fmt;

use trace::names;

/// A line of a method, shown as in a Java stack trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location<'a> {
    /// The class that declares the method.
    pub class: &'a str,
    /// The method's name as the trace spells it (constructors are `-init-`).
    pub method: &'a str,
    /// The method's descriptor; empty if unknown.
    pub signature: &'a str,
    /// The source file; empty if unknown.
    pub source: &'a str,
    /// The line in it.
    pub line: Option<u32>,
}

impl fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.class, names::jvm_method_name(self.method))?;
        if self.signature.is_empty() && self.source.is_empty() && self.line.is_none() {
            return Ok(());
        }
        f.write_str("(")?;
        match (self.source, self.line) {
            ("", None) => f.write_str("Unknown Source)"),
            ("", Some(line)) => write!(f, "line {line})"),
            (source, None) => write!(f, "{source})"),
            (source, Some(line)) => write!(f, "{source}:{line})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_look_like_stack_frames() {
        let at = Location { class: "a.B", method: "-init-", signature: "()V", source: "B.java", line: Some(7) };
        assert_eq!(at.to_string(), "a.B.<init>(B.java:7)");
        assert_eq!(Location { line: None, ..at }.to_string(), "a.B.<init>(B.java)");
        assert_eq!(Location { source: "", method: "run", ..at }.to_string(), "a.B.run(line 7)");
        assert_eq!(Location { source: "", line: None, ..at }.to_string(), "a.B.<init>(Unknown Source)");
        // A lock log has no more.
        assert_eq!(Location { source: "", line: None, signature: "", ..at }.to_string(), "a.B.<init>");
    }
}
