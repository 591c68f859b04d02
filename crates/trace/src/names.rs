//! How a trace spells the names of classes and methods.
//!
//! No real trace with arrays or hidden classes was found, so their spelling is a choice, made here
//! and nowhere else: what `Class.getTypeName()` says.

use crate::model::ArrayCode;

/// The name of the class with a JVM signature: `[[I` is `int[][]`, `Lp/A$1;` is `p.A$1`.
///
/// JVMTI gives hidden classes as `Lp/C.0x7f;`; their name is `p.C/0x7f`, as Java prints it, so that
/// the package still ends at the last dot.
pub fn class_name(signature: &str) -> String {
    let element = signature.trim_start_matches('[');
    let mut name = match element.as_bytes() {
        b"Z" => "boolean".to_owned(),
        b"C" => "char".to_owned(),
        b"F" => "float".to_owned(),
        b"D" => "double".to_owned(),
        b"B" => "byte".to_owned(),
        b"S" => "short".to_owned(),
        b"I" => "int".to_owned(),
        b"J" => "long".to_owned(),
        _ => {
            let internal = element.strip_prefix('L').unwrap_or(element);
            class_name_of_internal(internal.strip_suffix(';').unwrap_or(internal))
        }
    };
    for _ in element.len()..signature.len() {
        name.push_str("[]");
    }
    name
}

/// The name of the class with an internal name: `p/A$1` is `p.A$1`.
///
/// A hidden class is `p/C+0x7f` in class files and `p/C.0x7f` in signatures; either is `p.C/0x7f`.
pub fn class_name_of_internal(internal: &str) -> String {
    let hidden = internal.rfind(['.', '+']).filter(|&at| {
        let digits = internal[at + 1..].strip_prefix("0x");
        // A dot cannot stand in an ordinary name, a plus can.
        internal.as_bytes()[at] == b'.'
            || digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
    });
    match hidden {
        Some(at) => format!("{}/{}", internal[..at].replace('/', "."), &internal[at + 1..]),
        None => internal.replace('/', "."),
    }
}

/// The `isArray` code of the class with a JVM signature.
pub fn array_code(signature: &str) -> ArrayCode {
    match signature.as_bytes() {
        [b'[', element] => match element {
            b'Z' => ArrayCode::BOOLEAN,
            b'C' => ArrayCode::CHAR,
            b'F' => ArrayCode::FLOAT,
            b'D' => ArrayCode::DOUBLE,
            b'B' => ArrayCode::BYTE,
            b'S' => ArrayCode::SHORT,
            b'I' => ArrayCode::INT,
            b'J' => ArrayCode::LONG,
            _ => ArrayCode::REFERENCE,
        },
        [b'[', ..] => ArrayCode::REFERENCE,
        _ => ArrayCode::OBJECT,
    }
}

/// The element type's name of an array, however deep; any other name as it is.
pub fn element_name(class_name: &str) -> &str {
    class_name.trim_end_matches("[]")
}

/// The package of a class, empty for none; for an array, that of its elements.
pub fn package(class_name: &str) -> &str {
    class_name.rsplit_once('.').map_or("", |(package, _)| package)
}

/// The spelling of a method's name: `<init>` is `-init-`, so that no name needs escaping.
pub fn method_name(name: &str) -> &str {
    match name {
        "<init>" => "-init-",
        "<clinit>" => "-clinit-",
        other => other,
    }
}

/// The JVM's name of a method: the reverse of [`method_name`].
pub fn jvm_method_name(name: &str) -> &str {
    match name {
        "-init-" => "<init>",
        "-clinit-" => "<clinit>",
        other => other,
    }
}

/// The types of a method's parameters, by its descriptor and without their packages: `(int, String[])` of `(I[Ljava/lang/String;)V`.
/// Empty if it is none.
pub fn parameters(descriptor: &str) -> String {
    let mut rest = descriptor.strip_prefix('(').and_then(|rest| Some(rest.rsplit_once(')')?.0)).unwrap_or_default();
    let mut types: Vec<String> = Vec::new();
    while !rest.is_empty() {
        let dimensions = rest.len() - rest.trim_start_matches('[').len();
        let element = rest[dimensions..].chars().next().map_or(0, |first| match first {
            'L' => rest[dimensions..].find(';').map_or(rest.len() - dimensions, |end| end + 1),
            other => other.len_utf8(),
        });
        let (one, others) = rest.split_at(dimensions + element);
        let name = class_name(one);
        types.push(name.rsplit('.').next().unwrap_or_default().to_owned());
        rest = others;
    }
    if descriptor.is_empty() { String::new() } else { format!("({})", types.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_those_of_the_source() {
        for (descriptor, expected) in [
            ("()V", "()"),
            ("(I[[JLjava/lang/String;Z)V", "(int, long[][], String, boolean)"),
            ("([Ljava/util/Map$Entry;)I", "(Map$Entry[])"),
            ("", ""),
            // What no compiler writes ends, too.
            ("(Lä[[", "()"),
            ("([[)V", "([][])"),
            ("(Lä)V", "(ä)"),
        ] {
            assert_eq!(parameters(descriptor), expected, "{descriptor}");
        }
    }

    #[test]
    fn class_names() {
        for (signature, name, code) in [
            ("Lcom/foo/Bar$1;", "com.foo.Bar$1", ArrayCode::OBJECT),
            ("LMain;", "Main", ArrayCode::OBJECT),
            ("[I", "int[]", ArrayCode::INT),
            ("[Z", "boolean[]", ArrayCode::BOOLEAN),
            ("[C", "char[]", ArrayCode::CHAR),
            ("[F", "float[]", ArrayCode::FLOAT),
            ("[D", "double[]", ArrayCode::DOUBLE),
            ("[B", "byte[]", ArrayCode::BYTE),
            ("[S", "short[]", ArrayCode::SHORT),
            ("[J", "long[]", ArrayCode::LONG),
            ("[[I", "int[][]", ArrayCode::REFERENCE),
            ("[Ljava/lang/String;", "java.lang.String[]", ArrayCode::REFERENCE),
            ("Lp/C.0x0000000800c03000;", "p.C/0x0000000800c03000", ArrayCode::OBJECT),
            ("[Lp/C$$Lambda.0x7f;", "p.C$$Lambda/0x7f[]", ArrayCode::REFERENCE),
            ("Lp/C.12;", "p.C/12", ArrayCode::OBJECT),
            ("Lü/漢;", "ü.漢", ArrayCode::OBJECT),
        ] {
            assert_eq!(class_name(signature), name);
            assert_eq!(array_code(signature), code, "{signature}");
        }
    }

    #[test]
    fn internal_names() {
        assert_eq!(class_name_of_internal("p/C+0x7f"), "p.C/0x7f");
        assert_eq!(class_name_of_internal("p/C+0x"), "p.C+0x");
        assert_eq!(class_name_of_internal("p/A+B"), "p.A+B");
        assert_eq!(class_name_of_internal("I"), "I");
    }

    #[test]
    fn broken_signatures_give_some_name() {
        for signature in ["", "[", "L", ";", "L;", "[[", "LL;", "."] {
            class_name(signature);
            array_code(signature);
        }
    }

    #[test]
    fn parts_of_a_name() {
        assert_eq!(package("java.lang.String[]"), "java.lang");
        assert_eq!(package("p.C/0x7f"), "p");
        assert_eq!(package("int[]"), "");
        assert_eq!(element_name("int[][]"), "int");
    }

    #[test]
    fn constructors_need_no_escaping() {
        for name in ["<init>", "<clinit>", "run"] {
            assert!(!method_name(name).contains('<'));
            assert_eq!(jvm_method_name(method_name(name)), name);
        }
    }
}
