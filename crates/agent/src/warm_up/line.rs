//! Reads what the VM logs of classes (`-Xlog:class+load=info`), initialisers (`-Xlog:class+init=info`) and compilations
//! (`-Xlog:jit+compilation=debug`), JDK 11 to 25.
//!
//! ```text
//! [1371010ns][4711] 319 Initializing 'app/Rules' (0x000000f8010009f8)
//! [1371010ns][4711] 320 Initializing 'app/Plain'(no method) (0x000000f801000c00) by thread "main"
//! [1371010ns][4711] app.Rules source: file:/app.jar
//! [1371010ns][4711] java.lang.Object source: shared objects file
//! [1371010ns][4720]   77 %  b  4       app.Rules::match @ 12 (55 bytes)
//! [1371010ns][4711]   77       3       app.Rules::match (55 bytes)   made not entrant
//! ```

use agent_base::clock::Ticks;
use trace::model::CodeTier;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<'l> {
    /// When it was logged.
    pub(super) time: Ticks,
    /// The thread that logged it.
    pub(super) tid: libc::pid_t,
    pub(super) what: What<'l>,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What<'l> {
    /// The thread begins to run a static initialiser: the class as the VM has it, and where it lies in memory.
    Initialises { class: &'l str, klass: usize },
    /// A class is loaded, and where it came from.
    Loads { class: &'l str, source: &'l str },
    /// The thread, one of the compilers', begins to compile.
    Compiles(Code<'l>),
    /// Compiled code is entered no more, and why, if the VM says that.
    Discards { code: Code<'l>, why: Option<&'l str> },
}

/// Compiled code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code<'l> {
    /// The number that the VM gives the compilation.
    pub(super) id: u32,
    /// As `app.Rules::match`.
    pub(super) method: &'l str,
    pub(super) tier: CodeTier,
    /// It is entered in the middle of a loop.
    pub(super) is_osr: bool,
    /// Of the bytecode; `None` for what wraps native code.
    pub(super) bytes: Option<u32>,
}

impl<'l> Line<'l> {
    /// What the line says, if it is one of those.
    pub(super) fn parse(line: &'l str) -> Option<Line<'l>> {
        let (time, rest) = line.strip_prefix('[')?.split_once("ns][")?;
        let (tid, text) = rest.split_once(']')?;
        let time = Ticks(time.trim_start().parse().ok()?);
        let tid = tid.trim().parse().ok()?;
        let what = initialises(text.trim_start()).or_else(|| loads(text.trim_start())).or_else(|| compiles(text))?;
        Some(Line { time, tid, what })
    }
}

/// Initialisers only: a class without one is initialised at once.
fn initialises(text: &str) -> Option<What<'_>> {
    let (number, rest) = text.split_once(" Initializing '")?;
    number.parse::<u64>().ok()?;
    let (class, rest) = rest.split_once("' (")?;
    let (address, _) = rest.split_once(')')?;
    let klass = usize::from_str_radix(address.strip_prefix("0x")?, 16).ok()?;
    Some(What::Initialises { class, klass })
}

fn loads(text: &str) -> Option<What<'_>> {
    let (class, source) = text.split_once(" source: ")?;
    (!class.contains(' ')).then(|| What::Loads { class, source: source.trim_end() })
}

/// Whether a class came out of an archive, by its source.
pub(super) fn is_archived(source: &str) -> bool {
    source.starts_with("shared objects file")
}

/// Whether a class was loaded before, and is replaced now, by its source.
pub(super) fn is_redefined(source: &str) -> bool {
    source == "__VM_RedefineClasses__"
}

fn compiles(text: &str) -> Option<What<'_>> {
    let (head, rest) = text.split_at_checked(text.find("::")?)?;
    let name_at = head.rfind(' ')? + 1;
    let (marks, class) = head.split_at_checked(name_at)?;
    let mut words = marks.split_whitespace();
    let id = words.next()?.parse().ok()?;
    let (mut is_osr, mut tier) = (false, None);
    for word in words {
        match word.parse() {
            Ok(level) => tier = CodeTier::of_level(level),
            Err(_) => is_osr |= word.contains('%'),
        }
    }
    let end = rest.find(' ').unwrap_or(rest.len());
    let method = &text[name_at..name_at + class.len() + end];
    let after = &rest[end..];
    let is_native = after.contains("(native)");
    let bytes = || after.split_once('(')?.1.split_once(" bytes)")?.0.parse().ok();
    let bytes = if is_native { None } else { Some(bytes()?) };
    // Of native code the level stands for what wraps it.
    let code = Code { id, method, tier: tier?, is_osr, bytes };
    Some(match after.split_once("made not entrant").or_else(|| after.split_once("made zombie")) {
        Some((_, why)) => {
            What::Discards { code, why: Some(why.trim_start_matches(':').trim()).filter(|w| !w.is_empty()) }
        }
        None => What::Compiles(code),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn what(text: &str) -> Option<What<'_>> {
        compiles(text).or_else(|| initialises(text.trim_start()))
    }

    #[test]
    fn lines_of_all_releases_are_read() {
        let line =
            Line::parse("[12345678901ns][4711] 319 Initializing 'app/Rules' (0x00000007c0060a18)").expect("read");
        assert_eq!((line.time, line.tid), (Ticks(12_345_678_901), 4711));
        assert_eq!(line.what, What::Initialises { class: "app/Rules", klass: 0x7_c006_0a18 });
        let newer = "3 Initializing 'app/Rules' (0x00000007c0060a18) by thread \"main\"";
        assert_eq!(what(newer), Some(What::Initialises { class: "app/Rules", klass: 0x7_c006_0a18 }));
        assert_eq!(what("320 Initializing 'app/Plain'(no method) (0x00000007c0060a18)"), None);
        assert_eq!(what("Start class verification for: app.Rules"), None);
    }

    #[test]
    fn loads_are_read() {
        let line = Line::parse("[1ns][2] app.Rules$$Lambda/0x0000000044040000 source: app.Rules").expect("read");
        assert_eq!(line.what, What::Loads { class: "app.Rules$$Lambda/0x0000000044040000", source: "app.Rules" });
        let what = loads("java.lang.Object source: shared objects file (top)");
        let Some(What::Loads { source, .. }) = what else { panic!("{what:?}") };
        assert!(is_archived(source) && !is_redefined(source));
        let jar = loads("app.Rules source: file:/a folder/app.jar");
        assert_eq!(jar, Some(What::Loads { class: "app.Rules", source: "file:/a folder/app.jar" }));
        assert_eq!(loads("no class has source: x"), None);
    }

    #[test]
    fn compilations_are_read() {
        let code = |id, method, tier, is_osr, bytes| Code { id, method, tier, is_osr, bytes };
        let read = what("   77 %  b  4       app.Rules::match @ 12 (55 bytes)");
        assert_eq!(read, Some(What::Compiles(code(77, "app.Rules::match", CodeTier::C2, true, Some(55)))));
        let read = what("    1       3       java.lang.Object::<init> (1 bytes)");
        assert_eq!(read, Some(What::Compiles(code(1, "java.lang.Object::<init>", CodeTier::C1Full, false, Some(1)))));
        let read = what("   42     n 0       java.lang.Object::hashCode (native)   ");
        assert_eq!(read, Some(What::Compiles(code(42, "java.lang.Object::hashCode", CodeTier::Native, false, None))));
        let old = code(9, "a.B::c", CodeTier::C1, false, Some(7));
        assert_eq!(
            what("    9       1       a.B::c (7 bytes)   made not entrant"),
            Some(What::Discards { code: old, why: None })
        );
        let read = what("    9       1       a.B::c (7 bytes)   made not entrant: uncommon trap");
        assert_eq!(read, Some(What::Discards { code: old, why: Some("uncommon trap") }));
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_not(line in ".{0,80}", text in "[ 0-9%!bsn]{0,20}[a-z.:]{0,20}::[a-z<>]{0,9}[ ()@0-9a-z]{0,30}") {
            let _ = Line::parse(&line);
            let _ = Line::parse(&format!("[1ns][2] {text}"));
        }
    }
}
