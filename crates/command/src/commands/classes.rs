//! `martini classes`: what class files ask of a JVM.

use std::io::Write;
use std::path::{Path, PathBuf};

use analysis::class_files::{Classes, FREQ_INLINE_SIZE, Feature, HUGE_METHOD_LIMIT, Method, Release, Survey};
use analysis::warm_up::ClassSource;
use anyhow::{anyhow, bail};
use owo_colors::OwoColorize;
use serde_json::{Value, json};
use trace::command_line::quoted;

use crate::commands::per_file::{Files, each};
use crate::commands::selection::{row_limit, whole_number};
use crate::input::{class_files, reading};
use crate::render::human::{count, counted, printable};
use crate::render::page::{Page, PageArguments};
use crate::render::table::Table;

/// Show which Java release class files need, and methods too large to compile
///
/// Reads class files, jars (jars inside them too) and folders: class-file versions, what they use of the format, which JVMs refuse them,
/// methods that HotSpot does not compile or inline because of their size, and methods in which `heap=counts` could not count. No JVM is needed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini classes app.jar
  martini classes target/classes lib
  martini classes --json app.jar | jq '.inputs[0].needs'

Exit status:
  0  all were read
  2  a file or folder cannot be read, or has no class file")]
pub(crate) struct Arguments {
    #[command(flatten)]
    page: PageArguments,
    /// Class files, jars or folders, one by one
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Methods to show of each kind, 0 for all
    #[arg(long, value_name = "N", value_parser = whole_number)]
    top: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const DEFAULT_TOP: usize = 10;
/// The releases that most JVMs in use have.
const JVMS: [Release; 5] = [Release(8), Release(11), Release(17), Release(21), Release(25)];

/// What a file or folder has.
#[derive(Default)]
struct Found {
    survey: Survey,
    /// What could not be read, and why.
    unreadable: Vec<(String, String)>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let list = arguments.json.then_some(Files { command: "classes", list: "inputs" });
    let status = each(&arguments.files, list, arguments.page.width(), |path, out| {
        let found = find(path).map_err(|error| of_trace(path).unwrap_or(error))?;
        if arguments.json {
            return Ok(to_json(path, &found));
        }
        print(path, &found, row_limit(arguments.top, DEFAULT_TOP), out)?;
        Ok(Value::Null)
    })?;
    Ok(status)
}

fn find(path: &Path) -> anyhow::Result<Found> {
    let mut found = Found::default();
    class_files::each(path, &mut |name, bytes| {
        let from = class_files::release_of(name).map(Release);
        let added = bytes.and_then(|bytes| found.survey.add(&bytes, from).map_err(|error| error.to_string()));
        if let Err(why) = added {
            found.unreadable.push((name.to_owned(), why));
        }
    })?;
    if found.survey.classes() == 0 {
        let why = found.unreadable.first().map(|(name, why)| format!(" that can be read ({}: {why})", printable(name)));
        bail!("{} has no class file{}", path.display(), why.unwrap_or_default());
    }
    found.survey.finish();
    Ok(found)
}

/// Where a trace says that its classes came from, if the file is a trace: it has no class files itself.
fn of_trace(path: &Path) -> Option<anyhow::Error> {
    let reading = reading::warm_up(path).ok()?;
    let loads = reading.report.loads();
    let mut files: Vec<&str> = loads.iter().filter_map(|row| file(row.source)).collect();
    files.sort_unstable();
    files.dedup();
    let files: Vec<String> = files.into_iter().map(|file| quoted(&printable(file))).collect();
    Some(match &files[..] {
        [] => anyhow!("{} is a trace, which has no class files: name the jars of the program", path.display()),
        files => anyhow!(
            "{} is a trace, which has no class files; its classes came from: martini classes {}",
            path.display(),
            files.join(" ")
        ),
    })
}

/// The file or folder of a source; of a jar in a jar the outer one.
fn file(source: ClassSource<'_>) -> Option<&str> {
    let ClassSource::File(path) = source else { return None };
    let at = path.find('/')?;
    path[at..].split('!').next().map(|file| file.trim_end_matches('/'))
}

fn print(path: &Path, found: &Found, top: usize, out: &mut Page<'_>) -> anyhow::Result<()> {
    let survey = &found.survey;
    let (classes, methods) = (survey.classes(), counted(survey.methods, "method", "methods"));
    let head = format!("{}: {}, {methods} with code", path.display(), counted(classes, "class", "classes"));
    writeln!(out, "{}", head.bold())?;
    match survey.needs() {
        Some(release) => {
            let first = survey.by_release.get(&release).map(|classes| printable(&classes.first)).unwrap_or_default();
            let preview = if survey.preview.contains_key(&release) { " with --enable-preview" } else { "" };
            out.write_sentence(0, &format!("needs Java {release} or newer{preview}, for {first} among others"))?;
        }
        None => out.write_sentence(0, "no JVM loads all of them: some have preview features of an older release")?,
    }
    if survey.versioned > 0 {
        let versioned = counted(survey.versioned, "class is", "classes are");
        out.write_sentence(0, &format!("{versioned} in META-INF/versions, which older JVMs do not look at"))?;
    }
    writeln!(out)?;
    versions(survey).write(out)?;
    writeln!(out)?;
    jvms(survey).write(out)?;
    if !survey.uses.is_empty() {
        writeln!(out)?;
        uses(survey).write(out)?;
    }
    let limit = count(HUGE_METHOD_LIMIT as u64);
    let (huge, near): (Vec<&Method>, Vec<&Method>) =
        survey.large.iter().partition(|method| method.bytes > HUGE_METHOD_LIMIT);
    list(
        &format!("Never compiled (more than {limit} bytes of code; -XX:-DontCompileHugeMethods compiles them):"),
        &huge,
        top,
        out,
    )?;
    list(&format!("Close to the {limit} bytes beyond which HotSpot does not compile:"), &near, top, out)?;
    if survey.not_inlined > 0 {
        writeln!(out)?;
        let methods = counted(survey.not_inlined, "method has", "methods have");
        let sentence = format!(
            "{methods} more than {FREQ_INLINE_SIZE} bytes of code (FreqInlineSize): C2 does not inline such into hot code"
        );
        out.write_sentence(0, &sentence)?;
    }
    if !survey.refused.is_empty() {
        writeln!(out, "\nWould not be rewritten by heap=counts:")?;
        for (method, why) in survey.refused.iter().take(top) {
            out.write_sentence(2, &format!("{}: {why}", named(method)))?;
        }
        left(survey.refused.len(), top, out)?;
    }
    for (name, why) in found.unreadable.iter().take(top) {
        out.write_sentence(0, &format!("not read: {}: {why}", printable(name)))?;
    }
    left(found.unreadable.len(), top, out)?;
    writeln!(out)?;
    Ok(())
}

fn left(all: usize, top: usize, out: &mut Page<'_>) -> std::io::Result<()> {
    match all.saturating_sub(top) {
        0 => Ok(()),
        more => writeln!(out, "  ... and {} more; --top 0 shows all", count(more as u64)),
    }
}

fn list(head: &str, methods: &[&Method], top: usize, out: &mut Page<'_>) -> anyhow::Result<()> {
    if methods.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    out.write_sentence(0, head)?;
    let mut table = Table::new(vec!["bytes", "method"]);
    for method in methods.iter().take(top) {
        table.push(vec![count(method.bytes as u64), named(method)]);
    }
    table.write(out)?;
    left(methods.len(), top, out)?;
    Ok(())
}

fn named(method: &Method) -> String {
    printable(&format!("{}.{}", method.class, trace::names::jvm_method_name(&method.name)))
}

fn versions(survey: &Survey) -> Table {
    let mut table = Table::new(vec!["classes", "version", "Java", "for example"]);
    for (release, Classes { number, first }) in survey.by_release.iter().rev() {
        let preview = survey.preview.get(release).map(|preview| format!(" ({} preview)", count(preview.number)));
        let java = format!("{release}{}", preview.unwrap_or_default());
        table.push(vec![count(*number), release.major().to_string(), java, printable(first)]);
    }
    table
}

fn jvms(survey: &Survey) -> Table {
    let mut table = Table::new(vec!["JVM", "refuses"]);
    for jvm in JVMS {
        let refused = survey.refused_by(jvm);
        table.push(vec![format!("Java {jvm}"), if refused == 0 { "-".to_owned() } else { count(refused) }]);
    }
    table
}

fn uses(survey: &Survey) -> Table {
    let mut table = Table::new(vec!["classes", "since", "use", "for example"]);
    for (feature, Classes { number, first }) in &survey.uses {
        let since = format!("Java {}", feature.since());
        table.push(vec![count(*number), since, feature.name().to_owned(), printable(first)]);
    }
    table
}

fn to_json(path: &Path, found: &Found) -> Value {
    let survey = &found.survey;
    let versions = survey.by_release.iter().map(|(release, classes)| {
        let preview = survey.preview.get(release).map_or(0, |preview| preview.number);
        json!({ "java": release.0, "version": release.major(), "classes": classes.number, "preview": preview, "first": classes.first })
    });
    let jvms = JVMS.map(|jvm| json!({ "java": jvm.0, "refuses": survey.refused_by(jvm) }));
    let uses = survey.uses.iter().map(|(feature, classes): (&Feature, &Classes)| {
        json!({ "feature": feature.name(), "since_java": feature.since().0, "classes": classes.number, "first": classes.first })
    });
    let method = |method: &Method| {
        let Method { class, name, descriptor, bytes } = method;
        json!({
            "class": class, "method": trace::names::jvm_method_name(name), "descriptor": descriptor, "bytes": bytes,
            "is_compiled": *bytes <= HUGE_METHOD_LIMIT,
        })
    };
    let refused = survey.refused.iter().map(|(refused, why)| {
        let mut refused = method(refused);
        refused["why"] = why.to_string().into();
        refused
    });
    let unreadable = found.unreadable.iter().map(|(name, why)| json!({ "file": name, "why": why }));
    json!({
        "path": path.display().to_string(),
        "classes": survey.classes(),
        "methods": survey.methods,
        "needs": survey.needs().map(|release| release.0),
        "multi_release_classes": survey.versioned,
        "versions": versions.collect::<Vec<_>>(),
        "jvms": jvms,
        "uses": uses.collect::<Vec<_>>(),
        "large_methods": survey.large.iter().map(method).collect::<Vec<_>>(),
        "not_inlined_methods": survey.not_inlined,
        "not_rewritten": refused.collect::<Vec<_>>(),
        "unreadable": unreadable.collect::<Vec<_>>(),
    })
}
