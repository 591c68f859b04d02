//! Traces without names that must not leave (`--redact`).

mod names;

use std::env;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, bail};
use rustc_hash::FxHashMap;
use tempfile::NamedTempFile;
use trace::ids::ClassId;
use trace::model::Element;
use trace::reader::{DocumentEnd, Event, ReadError, TraceReader};
use trace::writer::XmlWriter;

use crate::attach::recording::say;
use crate::input::reading::named;
use names::{Names, Pattern};

/// The variable that holds the key of the hashes.
const KEY: &str = "MARTINI_REDACT_KEY";

/// Written at a time.
const BLOCK: usize = 1 << 16;

/// An option of commands that send traces away.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct RedactArguments {
    /// Replace names that begin so, such as 'com.acme.*', by hashes; MARTINI_REDACT_KEY is their key (repeatable)
    #[arg(long, value_name = "PATTERN")]
    redact: Vec<Pattern>,
}

impl RedactArguments {
    /// Whether names are to be replaced.
    pub(crate) fn is_asked_for(&self) -> bool {
        !self.redact.is_empty()
    }

    /// What replaces the names; `None` if none are to be. A missing key is said.
    pub(crate) fn redactor(&self) -> Option<Redactor> {
        if !self.is_asked_for() {
            return None;
        }
        let key = env::var(KEY).unwrap_or_default();
        if key.is_empty() {
            say(&format!("without a secret in {KEY}, who guesses a name can see that it is right"));
        }
        Some(Redactor(Names::new(&self.redact, key.as_bytes())))
    }
}

/// Writes traces without certain names.
#[derive(Clone, Debug)]
pub(crate) struct Redactor(Names);

impl Redactor {
    /// A copy of a trace, in a file that goes away with it.
    ///
    /// # Errors
    /// As for [`copy`](Self::copy).
    pub(crate) fn temporary(&self, trace: &Path) -> anyhow::Result<NamedTempFile> {
        let mut file = NamedTempFile::with_prefix("martini-").context("cannot make a temporary file")?;
        self.copy(trace, file.as_file_mut())?;
        Ok(file)
    }

    /// Writes a trace without the names. What of it is damaged is left out, and that is said.
    ///
    /// # Errors
    /// It cannot be read, or is not one; or the copy cannot be written.
    pub(crate) fn copy(&self, trace: &Path, to: &mut File) -> anyhow::Result<()> {
        let mut out = BufWriter::new(to);
        let mut writer = XmlWriter::with_capacity(2 * BLOCK);
        let mut document = Document { names: &self.0, classes: FxHashMap::default() };
        let mut reader = TraceReader::open(trace).map_err(|error| named(trace, error))?;
        let (mut damaged, mut any) = (0_u64, false);
        loop {
            match reader.next_event() {
                Ok(Some(Event::DocumentStart { .. })) => {
                    document.classes.clear();
                    writer.start_document();
                    any = true;
                }
                Ok(Some(Event::Element { mut element, .. })) => {
                    document.redact(&mut element);
                    writer.write(&element);
                }
                Ok(Some(Event::DocumentEnd(DocumentEnd::Complete))) => writer.end_document(),
                Ok(Some(Event::DocumentEnd(_))) => {}
                Ok(None) => break,
                Err(ReadError::Malformed { .. }) => damaged += 1,
                // What follows cannot be read by anybody.
                Err(error) if any => {
                    say(&format!("{}: the rest is left out: {error}", trace.display()));
                    break;
                }
                Err(error) => return Err(named(trace, error)),
            }
            if writer.bytes().len() >= BLOCK {
                out.write_all(writer.bytes())?;
                writer.clear();
            }
        }
        if !any {
            bail!("{} is not a trace", trace.display());
        }
        out.write_all(writer.bytes())?;
        out.flush()?;
        if damaged > 0 {
            say(&format!("{}: {damaged} damaged elements are left out", trace.display()));
        }
        Ok(())
    }
}

/// A document whose names are replaced.
struct Document<'n> {
    names: &'n Names,
    /// The classes that must not be seen.
    classes: FxHashMap<ClassId, String>,
}

impl Document<'_> {
    fn redact(&mut self, element: &mut Element<'_>) {
        match element {
            Element::ClassDef(class) => {
                self.classes.remove(&class.class_id);
                if self.names.has(&class.name) {
                    let name = class.name.to_string();
                    class.name = self.names.of(&name).into();
                    class.source_name = class.source_name.take().map(|file| self.names.of_file(&name, &file).into());
                    class.module = class.module.take().map(|module| self.names.of(&module).into());
                    self.classes.insert(class.class_id, name);
                    return;
                }
            }
            Element::MethodDef(method) => {
                if let Some(class) = self.classes.get(&method.class) {
                    method.name = self.names.of_member(class, &method.name).into();
                }
            }
            Element::LockName(lock) => {
                if let Some(class) = self.classes.get(&lock.class) {
                    lock.field = lock.field.take().map(|field| self.names.of_member(class, &field).into());
                }
            }
            _ => {}
        }
        element.each_text(|text| {
            if let std::borrow::Cow::Owned(without) = self.names.without(text) {
                *text = without.into();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A trace with names in all places, and what is left of it.
    fn redacted(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.trcxml");
        fs::write(&path, text).unwrap();
        let arguments = RedactArguments { redact: vec!["com.acme.*".parse().unwrap()] };
        let copy = arguments.redactor().unwrap().temporary(&path).unwrap();
        fs::read_to_string(copy.path()).unwrap()
    }

    #[test]
    fn names_are_replaced_and_all_else_stays() {
        let trace = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n\
            <processCreate processId=\"1\" pid=\"2\" nodeIdRef=\"3\" time=\"1.000000000\" name=\"java com.acme.Main\"/>\n\
            <classDef name=\"com.acme.Order\" sourceName=\"Order.java\" classId=\"10\" time=\"1.000000000\" moduleName=\"acme.shop\"/>\n\
            <methodDef name=\"place\" signature=\"(Lcom/acme/Item;)V\" methodId=\"11\" classIdRef=\"10\"/>\n\
            <classDef name=\"a.B\" sourceName=\"B.java\" classId=\"12\" time=\"1.000000000\"/>\n\
            <methodDef name=\"run\" signature=\"()V\" methodId=\"13\" classIdRef=\"12\"/>\n\
            <objAlloc isArray=\"0\" size=\"16\" objId=\"14\" classIdRef=\"10\" time=\"1.000000000\"/>\n\
            </TRACE>\n";
        let out = redacted(trace);
        for secret in ["acme", "Order", "place", "Item", "Main"] {
            assert!(!out.contains(secret), "{secret}: {out}");
        }
        let kept = |text: &str| text.lines().filter(|line| !line.contains("=\"x") && !line.contains("acme")).count();
        assert_eq!((out.lines().count(), kept(trace)), (trace.lines().count(), 6));
        assert!(out.contains("name=\"a.B\" sourceName=\"B.java\"") && out.ends_with("</TRACE>\n"));
        // One without an end stays one, and nothing else changes a trace of other names.
        let cut = trace.strip_suffix("</TRACE>\n").unwrap();
        assert_eq!(redacted(cut), out.strip_suffix("</TRACE>\n").unwrap());
        let other = trace.replace("acme", "other");
        assert_eq!(redacted(&other), other);
    }
}
