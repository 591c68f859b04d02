//! Puts the page together: its style, the data, and its modules, which become one script.

use std::io::{self, Write};

use serde_json::Value;
use trace::file::Kind;

/// What every report begins with.
const BEGINNING: &str = "<!doctype html><html lang=\"en\" data-martini-report=\"1\">";

/// Files with a report.
pub(crate) const REPORT: Kind = Kind { name: "report", is_begun_by: |head| head.starts_with(BEGINNING.as_bytes()) };

/// Each uses only those in front of it.
const MODULES: [&str; 22] = [
    include_str!("page/data.js"),
    include_str!("page/format.js"),
    include_str!("page/state.js"),
    include_str!("page/dom.js"),
    include_str!("page/profile.js"),
    include_str!("page/table.js"),
    include_str!("page/flame.js"),
    include_str!("page/time.js"),
    include_str!("page/heat.js"),
    include_str!("page/stacks_view.js"),
    include_str!("page/heap_view.js"),
    include_str!("page/start_view.js"),
    include_str!("page/requests_view.js"),
    include_str!("page/overview.js"),
    include_str!("page/locks_view.js"),
    include_str!("page/leaks_view.js"),
    include_str!("page/dump_view.js"),
    include_str!("page/change.js"),
    include_str!("page/diff_stacks.js"),
    include_str!("page/diff_views.js"),
    include_str!("page/fleet_view.js"),
    include_str!("page/main.js"),
];

/// Nothing is loaded and nothing is sent, whatever a name in the data tries.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// Writes a page that shows the data.
pub(super) fn write(data: &Value, out: &mut impl Write) -> io::Result<()> {
    write!(
        out,
        "{BEGINNING}\n<head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Martini report</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{}</style></head>\n<body>\n{}",
        include_str!("page/page.css"),
        include_str!("page/body.html"),
    )?;
    write!(out, "<script type=\"application/json\" id=\"data\">")?;
    serde_json::to_writer(Escaped(&mut *out), data)?;
    writeln!(out, "</script>\n<script>\n(() => {{\n\"use strict\";")?;
    for module in MODULES {
        let exports = exports(module).join(", ");
        writeln!(out, "const {{ {exports} }} = (() => {{")?;
        for line in module.lines().filter(|line| !line.starts_with("import ")) {
            writeln!(out, "{}", line.strip_prefix(EXPORT).unwrap_or(line))?;
        }
        writeln!(out, "return {{ {exports} }};\n}})();")?;
    }
    writeln!(out, "}})();\n</script>\n</body></html>")
}

/// What is in front of a name that other modules use.
const EXPORT: &str = "export ";

/// The names that other modules may use.
fn exports(module: &str) -> Vec<&str> {
    let exported = module.lines().filter_map(|line| line.strip_prefix(EXPORT)?.split_once(' '));
    exported.filter_map(|(_, name)| name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()).collect()
}

/// Writes JSON so that nothing in it ends the element that it is in, or a line of a script.
struct Escaped<W>(W);

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        /// The first two bytes of U+2028 and U+2029.
        const SEPARATOR: &[u8] = b"\xe2\x80";
        let mut begin = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            // Letters are written as a whole.
            let (escape, length) = match byte {
                b'<' => ("\\u003c", 1),
                b'>' => ("\\u003e", 1),
                b'&' => ("\\u0026", 1),
                0xe2 if bytes[at..].starts_with(SEPARATOR) && bytes.get(at + 2) == Some(&0xa8) => ("\\u2028", 3),
                0xe2 if bytes[at..].starts_with(SEPARATOR) && bytes.get(at + 2) == Some(&0xa9) => ("\\u2029", 3),
                _ => continue,
            };
            self.0.write_all(&bytes[begin..at])?;
            self.0.write_all(escape.as_bytes())?;
            begin = at + length;
        }
        self.0.write_all(&bytes[begin..])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_name_ends_the_script_and_all_of_them_come_back() {
        let data = json!({ "</script><b>": "<!-- \u{2028}\u{2029} & é €" });
        let mut text = Vec::new();
        serde_json::to_writer(Escaped(&mut text), &data).expect("memory takes it");
        let text = String::from_utf8(text).expect("it is text");
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("it is JSON"), data);
    }

    #[test]
    fn a_page_says_that_it_is_a_report_and_its_modules_are_no_longer_modules() {
        let mut page = Vec::new();
        write(&json!({}), &mut page).expect("memory takes it");
        assert!((REPORT.is_begun_by)(&page[..64]));
        let page = String::from_utf8(page).expect("it is text");
        assert!(page.lines().all(|line| !line.starts_with("import ") && !line.starts_with("export ")));
        assert!(page.contains("const { frameText, ") || page.contains(", frameText, "));
    }

    #[test]
    fn a_module_uses_what_those_in_front_of_it_export() {
        let mut known: Vec<&str> = Vec::new();
        for module in MODULES {
            for line in module.lines().filter_map(|line| line.strip_prefix("import { ")) {
                let (names, _) = line.split_once(" } from ").expect("imports are of one line");
                assert!(names.split(", ").all(|name| known.contains(&name)), "{line}");
            }
            known.extend(exports(module));
        }
        let mut names = known.clone();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), known.len(), "two modules export the same name");
    }
}
