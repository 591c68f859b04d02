//! When the heap is dumped, in which format, and to which file.

use std::path::{Path, PathBuf};

/// When the heap is dumped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DumpWhen {
    /// At VMDeath.
    pub end: bool,
    /// When the JVM first throws `OutOfMemoryError` because the heap is full.
    pub out_of_memory: bool,
    /// Whenever the request file appears.
    pub request: bool,
    /// After that many collections.
    pub collection: Option<u64>,
}

impl DumpWhen {
    /// Understands `end+oom+gc:N+request` and any part of it.
    pub(crate) fn parse(value: &str) -> Option<DumpWhen> {
        let mut when = DumpWhen::default();
        for word in value.split('+') {
            let is_new = match word {
                "end" => !std::mem::replace(&mut when.end, true),
                "oom" => !std::mem::replace(&mut when.out_of_memory, true),
                "request" => !std::mem::replace(&mut when.request, true),
                _ => {
                    let number = word.strip_prefix("gc:")?.parse().ok().filter(|&n| n > 0)?;
                    when.collection.replace(number).is_none()
                }
            };
            is_new.then_some(())?;
        }
        Some(when)
    }

    /// Whether there may be a dump.
    pub fn ever(self) -> bool {
        self != DumpWhen::default()
    }
}

/// The format of a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DumpFormat {
    /// A file of its own, in the format of the JVM and of every heap tool.
    #[default]
    Hprof,
    /// Roots and references, in the trace.
    Xml,
}

/// What a dump holds of fields and arrays of primitives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DumpContents {
    /// Their values.
    #[default]
    Full,
    /// Zeros.
    Zero,
}

/// All options of dumps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpOptions {
    /// When the heap is dumped.
    pub when: DumpWhen,
    /// The format.
    pub format: DumpFormat,
    /// What the dump holds.
    pub contents: DumpContents,
    /// Where HPROF files are written, `%p` and `%n` not yet replaced; by default beside the trace.
    pub file: Option<PathBuf>,
}

impl DumpOptions {
    /// The file of the dump with that number, if the trace is in `trace`. Without `%n` a number from 2 on stands in front of the
    /// ending.
    pub fn path(&self, trace: &Path, number: u32) -> PathBuf {
        let pattern = match &self.file {
            Some(file) => file.to_string_lossy().into_owned(),
            None => format!("{}-%n.hprof", trace.with_extension("").display()),
        };
        let is_numbered = pattern.contains("%n");
        let path = pattern.replace("%p", &std::process::id().to_string()).replace("%n", &number.to_string());
        let path = PathBuf::from(path);
        if is_numbered || number == 1 {
            return path;
        }
        let mut name = path.file_stem().unwrap_or_default().to_owned();
        name.push(format!("-{number}"));
        if let Some(ending) = path.extension() {
            name.push(".");
            name.push(ending);
        }
        path.with_file_name(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_one_word_and_several_are_joined() {
        let all = DumpWhen { end: true, out_of_memory: true, request: true, collection: Some(3) };
        assert_eq!(DumpWhen::parse("gc:3+oom+request+end"), Some(all));
        assert_eq!(DumpWhen::parse("oom"), Some(DumpWhen { out_of_memory: true, ..DumpWhen::default() }));
        for wrong in ["", "end+", "gc", "gc:", "gc:0", "gc:x", "end,oom", "end+end", "gc:1+gc:2", "never"] {
            assert_eq!(DumpWhen::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn dumps_are_beside_the_trace_unless_another_file_is_given() {
        let mut options = DumpOptions::default();
        assert_eq!(options.path(Path::new("/x/app.trcxml"), 2), Path::new("/x/app-2.hprof"));
        options.file = Some("/y/%n-%p.bin".into());
        let expected = format!("/y/7-{}.bin", std::process::id());
        assert_eq!(options.path(Path::new("/x/app.trcxml"), 7), Path::new(&expected));
        options.file = Some("/y/one.bin".into());
        let paths = [1, 2, 3].map(|number| options.path(Path::new("/x/app.trcxml"), number));
        assert_eq!(paths, ["/y/one.bin", "/y/one-2.bin", "/y/one-3.bin"].map(PathBuf::from));
    }
}
