//! Opens a heap dump or a trace, and makes its graph.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use ::trace::ids::HeapDumpId;
use ::trace::model::Element;
use ::trace::reader::TraceReader;
use analysis::allocations::{AllocationReport, AllocationStats};
use analysis::heap_dump::contents::{self, Described, Wanted};
use analysis::heap_dump::load::{self, Loaded};
use analysis::heap_dump::traced::{DumpInTrace, TracedDump};
use analysis::heap_dump::waste::{self, Waste};
use analysis::heap_dump::{ClassRow, Dominators, Graph, histogram};
use anyhow::{Context, anyhow, bail};
use hprof::read::{DumpFile, ReadError};

use super::Arguments;
use super::trace::History;
use crate::input::progress;
use crate::input::reading::{self, Part};

/// Something with objects in it.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// Its size, packed as it is.
    pub(crate) bytes: u64,
    pub(crate) heap: Option<Heap>,
    pub(crate) form: Form,
}

/// A graph, and who holds whom in it.
pub(crate) struct Heap {
    pub(crate) data: Data,
    pub(crate) dominators: Dominators,
}

/// Where a graph comes from.
pub(crate) enum Data {
    Dump(Box<DumpFile>, Box<Loaded>),
    Trace(Box<Graph>),
}

pub(crate) enum Form {
    Dump,
    Trace(Box<Traced>),
}

/// What a trace holds besides its dump.
pub(crate) struct Traced {
    pub(crate) report: AllocationReport,
    pub(crate) dumps: Vec<DumpInTrace>,
    pub(crate) history: History,
    pub(crate) broken: Option<String>,
}

impl Heap {
    pub(crate) fn graph(&self) -> &Graph {
        match &self.data {
            Data::Dump(_, loaded) => &loaded.graph,
            Data::Trace(graph) => graph,
        }
    }

    /// Looks at objects, where the dump has contents.
    pub(crate) fn describe(&self, wanted: &Wanted) -> anyhow::Result<Described> {
        let Data::Dump(file, loaded) = &self.data else { return Ok(Described::default()) };
        if wanted.objects.is_empty() && wanted.links.is_empty() {
            return Ok(Described::default());
        }
        with_bar(file, |tick| contents::describe(file, loaded, wanted, tick)).context("cannot read the dump again")
    }

    /// What is wasted, where the dump has contents.
    pub(crate) fn waste(&self, duplicates: usize) -> anyhow::Result<Option<Waste>> {
        let Data::Dump(file, loaded) = &self.data else { return Ok(None) };
        let found = with_bar(file, |tick| waste::waste(file, loaded, duplicates, tick));
        found.map(Some).context("cannot read the dump again")
    }
}

impl Source {
    /// Reads a file, or standard input.
    pub(crate) fn open(arguments: &Arguments, path: &Path) -> anyhow::Result<Self> {
        let (file, length) = match path.as_os_str() == "-" {
            true => spooled()?,
            false => {
                let dump = DumpFile::open(path)?;
                return Self::of(arguments, path, dump, || Ok(TraceReader::open(path)?));
            }
        };
        let again = file.try_clone()?;
        Self::of(arguments, path, DumpFile::of(path, file, length)?, || {
            let mut again = again;
            again.rewind()?;
            Ok(TraceReader::new(again)?)
        })
    }

    fn of<R: Read>(
        arguments: &Arguments,
        path: &Path,
        dump: DumpFile,
        trace: impl FnOnce() -> anyhow::Result<TraceReader<R>>,
    ) -> anyhow::Result<Self> {
        match dump.reader() {
            Ok(_) => {}
            Err(ReadError::NotHprof) => {
                let reader = trace().with_context(|| unreadable(path))?;
                return Self::traced(arguments, path, reader);
            }
            Err(error) => return Err(anyhow!(error).context(unreadable(path))),
        }
        let bytes = dump.length();
        let loaded = with_bar(&dump, |tick| load::load(&dump, tick)).with_context(|| unreadable(path))?;
        let dominators = Dominators::of(&loaded.graph)?;
        let data = Data::Dump(Box::new(dump), Box::new(loaded));
        Ok(Source { path: path.to_owned(), bytes, heap: Some(Heap { data, dominators }), form: Form::Dump })
    }

    fn traced<R: Read>(arguments: &Arguments, path: &Path, reader: TraceReader<R>) -> anyhow::Result<Self> {
        let mut stats = AllocationStats::new();
        let mut dump = TracedDump::new(arguments.dump.map(HeapDumpId));
        let mut history = History::of(arguments.object, arguments.class.as_deref());
        let outcome = reading::read_parts(path, reader, |part| {
            match part {
                Part::Element(element) => {
                    if !matches!(element, Element::GcRoot(_) | Element::ObjectReference(_)) {
                        stats.element(element);
                        history.element(element);
                    }
                    dump.element(element)?;
                }
                Part::DocumentEnd => {
                    stats.end_document();
                    dump.end_document();
                    history.end_document();
                }
            }
            Ok(())
        })?;
        let report = stats.finish();
        if report.facts().elements == report.facts().unknown {
            bail!("{} is neither a heap dump nor a trace", path.display());
        }
        let dumps = dump.dumps().to_vec();
        if let Some(wanted) = arguments.dump
            && dumps.iter().all(|dump| dump.id.0 != wanted)
        {
            let known: Vec<String> = dumps.iter().map(|dump| dump.id.to_string()).collect();
            bail!("{} has no heap dump {wanted}; it has {}", path.display(), list(&known));
        }
        let heap = match dump.finish()? {
            // The dump itself is a separate file.
            Some(graph) if graph.roots().is_empty() && graph.reference_count() == 0 => None,
            Some(graph) => {
                let dominators = Dominators::of(&graph)?;
                Some(Heap { data: Data::Trace(Box::new(graph)), dominators })
            }
            None => None,
        };
        let broken = outcome.broken.or(outcome.first_malformed);
        let form = Form::Trace(Box::new(Traced { report, dumps, history, broken }));
        Ok(Source { path: path.to_owned(), bytes: outcome.bytes, heap, form })
    }

    /// The graph.
    ///
    /// # Errors
    /// A trace without a dump has none.
    pub(crate) fn heap(&self) -> anyhow::Result<&Heap> {
        self.heap.as_ref().ok_or_else(|| {
            anyhow!(
                "{} has no heap dump; record one with `martini run --heap events` and its dump options",
                self.path.display()
            )
        })
    }

    /// The rows of all classes, for a comparison.
    pub(crate) fn histogram(self) -> anyhow::Result<(PathBuf, Vec<ClassRow>)> {
        let heap = self.heap()?;
        let rows = histogram(heap.graph(), &heap.dominators);
        Ok((self.path, rows))
    }
}

fn unreadable(path: &Path) -> String {
    format!("cannot read {}", path.display())
}

fn list(items: &[String]) -> String {
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}

/// Standard input in an anonymous temporary file, because dumps are read more than once.
fn spooled() -> anyhow::Result<(File, u64)> {
    let mut file = tempfile::tempfile().context("cannot make a temporary file for standard input")?;
    let copied = std::io::copy(&mut std::io::stdin().lock(), &mut file);
    let length = copied.context("cannot copy standard input into a temporary file")?;
    Ok((file, length))
}

/// Runs something that reports its progress, with a progress bar.
fn with_bar<T>(file: &DumpFile, work: impl FnOnce(load::Progress<'_>) -> T) -> T {
    let mut bar = progress::bar(Some(file.length()), "");
    let mut doing = "";
    work(&mut |what, position| {
        if what != doing {
            doing = what;
            bar.set_message(what);
        }
        bar.set_position(position);
    })
}
