//! Methods, as users name them.

use std::fmt;

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

#[cfg(test)]
mod tests {
    use super::*;

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
