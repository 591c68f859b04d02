//! Methods, as users name them.

use std::fmt;

use trace::filter::Pattern;

/// A method of a class, by its name: all methods of that name, if the class has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodName {
    /// The class as the language names it, nested ones with a `$`: `com.acme.Outer$Inner`.
    pub class: String,
    /// The method: `work`, `<init>`.
    pub method: String,
}

impl MethodName {
    /// Reads `com.acme.Server.ready`; `None` if it is no such name.
    pub fn parse(text: &str) -> Option<MethodName> {
        let (class, method) = text.rsplit_once('.')?;
        let is_name = |name: &str| !name.is_empty() && !name.contains(['*', '/', '(', ')', ':', ';', '[', ' ']);
        let are_names = class.split('.').all(is_name) && is_name(method);
        are_names.then(|| MethodName { class: class.to_owned(), method: method.to_owned() })
    }
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.class, self.method)
    }
}

/// Methods of classes that match a pattern, by their name or all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodPattern {
    class: Pattern,
    /// `None` for all.
    method: Option<String>,
    text: String,
}

impl MethodPattern {
    /// Reads `com.acme.Orders.handle`, `*Controller.*`; `None` if it is none.
    pub fn parse(text: &str) -> Option<MethodPattern> {
        let (class, method) = text.rsplit_once('.')?;
        if class.contains(['/', '(', ')', ':', ';', '[', ' ']) {
            return None;
        }
        let any = method == "*";
        // The name of a class stands for itself here.
        let name = if any { "any" } else { method };
        MethodName::parse(&format!("C.{name}")).filter(|name| !name.method.starts_with('<'))?;
        let class = class.parse().ok()?;
        Some(MethodPattern { class, method: (!any).then(|| method.to_owned()), text: text.to_owned() })
    }

    /// Whether methods of that class, as the language names it, may be among them.
    pub fn matches_class(&self, class: &str) -> bool {
        self.class.matches(class)
    }

    /// Whether a method of such a class is among them.
    pub fn matches_method(&self, method: &str) -> bool {
        self.method.as_ref().is_none_or(|wanted| wanted == method)
    }
}

impl fmt::Display for MethodPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_methods_of_classes() {
        let handle = MethodPattern::parse("com.acme.*Orders.handle");
        assert_eq!(handle, None, "one star, at an end");
        let handle = MethodPattern::parse("*Controller.handle").unwrap();
        assert!(handle.matches_class("com.acme.OrderController") && !handle.matches_class("com.acme.Orders"));
        assert!(handle.matches_method("handle") && !handle.matches_method("handles"));
        let all = MethodPattern::parse("com.acme.web.*.*").unwrap();
        assert!(all.matches_class("com.acme.web.Api") && all.matches_method("get"));
        assert_eq!(all.to_string(), "com.acme.web.*.*");
        for wrong in ["", "handle", "a/B.c", "a.B.c()", "a.B.<init>", "a.B.c*", "a.B."] {
            assert_eq!(MethodPattern::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_last_part_is_the_method() {
        let method = MethodName::parse("com.acme.Outer$Inner.<init>").unwrap();
        assert_eq!((&*method.class, &*method.method), ("com.acme.Outer$Inner", "<init>"));
        assert_eq!(method.to_string(), "com.acme.Outer$Inner.<init>");
        for wrong in ["", "work", ".work", "Main.", "a..work", "com/acme/Main.work", "Main.work()", "Main.*"] {
            assert_eq!(MethodName::parse(wrong), None, "{wrong}");
        }
    }
}
