//! Java classes with many allocation sites, as source.

use std::fmt::Write;

/// Classes that are generated.
pub(crate) const CLASSES: usize = 500;

/// Methods of each class.
const METHODS: usize = 8;

/// Sites of each method: few enough that HotSpot compiles it, with what an agent inserts.
const SITES_PER_METHOD: usize = 50;

/// File names and contents: the classes, and `Sites`, whose `visit(int)` performs every allocation of one of them.
pub(crate) fn sources() -> impl Iterator<Item = (String, String)> {
    let classes = (0..CLASSES).map(|class| (format!("Sites{class}.java"), class_source(class)));
    classes.chain([("Sites.java".to_owned(), dispatcher())])
}

fn class_source(class: usize) -> String {
    let mut text = format!("final class Sites{class} {{\n    static void all(Object[] last) {{\n");
    for method in 0..METHODS {
        put(&mut text, format_args!("        some{method}(last);\n"));
    }
    text.push_str("    }\n");
    for method in 0..METHODS {
        put(&mut text, format_args!("    private static void some{method}(Object[] last) {{\n"));
        text.push_str(&"        last[0] = new Object();\n".repeat(SITES_PER_METHOD));
        text.push_str("    }\n");
    }
    text.push_str("}\n");
    text
}

fn dispatcher() -> String {
    let mut text =
        "final class Sites {\n    static void visit(int number) {\n        Object[] last = new Object[1];\n".to_owned();
    text.push_str("        switch (number) {\n");
    for class in 0..CLASSES {
        put(&mut text, format_args!("            case {class}: Sites{class}.all(last); break;\n"));
    }
    text.push_str(
        "            default: throw new IllegalArgumentException(\"no class \" + number);\n        }\n    }\n}\n",
    );
    text
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    text.write_fmt(line).expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_sites_as_promised() {
        let (names, texts): (Vec<String>, Vec<String>) = sources().unzip();
        let sites: usize = texts.iter().map(|text| text.matches("new Object()").count()).sum();
        assert_eq!(sites, 200_000);
        assert_eq!(names.len(), CLASSES + 1);
        let dispatcher = &texts[CLASSES];
        assert!(dispatcher.contains("case 499: Sites499.all(last); break;"));
    }
}
