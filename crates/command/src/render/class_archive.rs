//! Whether a JVM took its classes from an archive (CDS archive, AOT cache), and how to make one.

use analysis::allocations::Origin;
use analysis::warm_up::{Cause, WarmUpReport};
use serde_json::{Value, json};
use trace::command_line::CommandLine;
use trace::time::Nanos;

use crate::render::human::{counted, duration, percent};

/// Options that name an archive; the first one of a command line is enough here.
const NAMES_ARCHIVE: [&str; 3] = ["-XX:SharedArchiveFile=", "-XX:AOTCache=", "-XX:AOTCacheOutput="];
/// A JVM whose classes are from an archive to this part has little left to gain.
const MOST: f64 = 0.9;
/// Fewer classes cost too little.
const MANY: u64 = 1000;
const FIRST_WITH_CACHE: u32 = 25;
const FIRST_WITH_DYNAMIC_ARCHIVE: u32 = 13;
/// The first release whose log of archives has another name.
const FIRST_LOG_OF_AOT: u32 = 25;

/// What is known of a JVM's archive.
struct Archive {
    loaded: u64,
    archived: u64,
    /// The option that names one.
    asked: Option<String>,
    is_off: bool,
    /// The feature release, if it is known.
    java: Option<u32>,
}

impl Archive {
    /// Of the JVM of a trace; `None` if it has not counted its classes.
    fn of(report: &WarmUpReport) -> Option<Archive> {
        let loaded = report.loaded_classes();
        let origin = report.facts().origins.first();
        let CommandLine(words) =
            origin.and_then(|origin| origin.command.parse().ok()).unwrap_or(CommandLine(Vec::new()));
        let asked = words.iter().find(|word| NAMES_ARCHIVE.iter().any(|name| word.starts_with(name)));
        (loaded > 0).then(|| Archive {
            loaded,
            archived: report.counter("java.cls.sharedLoadedClasses").unwrap_or(0),
            asked: asked.cloned(),
            is_off: words.iter().any(|word| word == "-Xshare:off"),
            java: origin.and_then(feature),
        })
    }

    /// The option that has the JVM say what it does with an archive.
    fn log(&self) -> &'static str {
        if self.java.is_some_and(|java| java >= FIRST_LOG_OF_AOT) { "-Xlog:aot" } else { "-Xlog:cds" }
    }

    /// How to make one: the options of a run that makes it, and of those that use it.
    fn recipe(&self) -> (&'static str, &'static str) {
        match self.java {
            Some(java) if java >= FIRST_WITH_CACHE => ("-XX:AOTCacheOutput=app.aot", "-XX:AOTCache=app.aot"),
            Some(java) if java < FIRST_WITH_DYNAMIC_ARCHIVE => (
                "-XX:DumpLoadedClassList=app.lst, then -Xshare:dump -XX:SharedClassListFile=app.lst -XX:SharedArchiveFile=app.jsa",
                "-XX:SharedArchiveFile=app.jsa",
            ),
            _ => ("-XX:ArchiveClassesAtExit=app.jsa", "-XX:SharedArchiveFile=app.jsa"),
        }
    }

    fn is_small(&self) -> bool {
        self.archived as f64 >= MOST * self.loaded as f64 || self.loaded - self.archived.min(self.loaded) < MANY
    }
}

/// The feature release of a JVM: 17 of `17.0.9`.
fn feature(origin: &Origin) -> Option<u32> {
    origin.java_version.split(['.', '-', '+']).next()?.parse().ok()
}

/// What to say of it; `None` if there is nothing to gain.
pub(crate) fn advice(report: &WarmUpReport) -> Option<String> {
    let archive = Archive::of(report)?;
    let (make, using) = archive.recipe();
    let causes = report.causes();
    let cost: u64 = [Cause::Load, Cause::Link, Cause::Verify].iter().map(|&cause| causes.of(cause).0).sum();
    let cost = duration(Nanos(cost));
    match (&archive.asked, archive.archived) {
        _ if archive.is_off => Some("class archives are switched off by -Xshare:off".to_owned()),
        (Some(asked), 0) => Some(format!(
            "{asked} names a class archive, but the JVM used none: {} says why (another JDK build, class path, collector or flag)",
            archive.log()
        )),
        (None, 0) => Some(format!(
            "the JVM used no class archive: this JDK has none (java -Xshare:dump makes one), or could not use it ({} says why)",
            archive.log()
        )),
        _ if archive.is_small() => None,
        (_, archived) => Some(format!(
            "{} not in the class archive ({} of all), and loading, linking and verifying took {cost}: run once with {make}, \
             then with {using}; Martini leaves an archive usable",
            counted(archive.loaded.saturating_sub(archived), "class was", "classes were"),
            percent(archive.loaded.saturating_sub(archived), archive.loaded),
        )),
    }
}

/// The same as JSON.
pub(crate) fn json(report: &WarmUpReport) -> Value {
    Archive::of(report).map_or(Value::Null, |archive| {
        json!({
            "classes": archive.loaded,
            "from_archive": archive.archived,
            "asked_by": archive.asked,
            "switched_off": archive.is_off,
            "advice": advice(report),
        })
    })
}
