//! Whether a JVM took its classes from an archive (CDS archive, AOT cache), why not, and how to make one.

use std::ffi::OsString;

use analysis::allocations::Origin;
use analysis::warm_up::{ArchiveRow, Cause, WarmUpReport};
use serde_json::{Value, json};
use trace::command_line::{CommandLine, quoted};
use trace::model::ArchiveRefusal;
use trace::time::Nanos;

use crate::launch::archives;
use crate::render::human::{counted, duration, percent, printable};

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
struct Archive<'r> {
    loaded: u64,
    archived: u64,
    /// Those that the agent found on the command line.
    named: &'r [ArchiveRow],
    words: Vec<String>,
    /// The option that names one.
    asked: Option<String>,
    is_off: bool,
    /// The feature release, if it is known.
    java: Option<u32>,
}

impl<'r> Archive<'r> {
    /// Of the JVM of a trace; `None` if it has not counted its classes.
    fn of(report: &'r WarmUpReport) -> Option<Archive<'r>> {
        let loaded = report.loaded_classes();
        let origin = report.facts().origins.first();
        let CommandLine(words) =
            origin.and_then(|origin| origin.command.parse().ok()).unwrap_or(CommandLine(Vec::new()));
        let asked = words.iter().find(|word| NAMES_ARCHIVE.iter().any(|name| word.starts_with(name))).cloned();
        (loaded > 0).then(|| Archive {
            loaded,
            archived: report.archived_classes(),
            named: report.archives(),
            asked,
            is_off: words.iter().any(|word| word == "-Xshare:off"),
            java: origin.and_then(feature),
            words,
        })
    }

    /// The command that has the JVM say what it does with an archive, in words for a shell; it does not run the program.
    fn shows_why(&self) -> Vec<String> {
        let log = match self.java {
            Some(java) if java < FIRST_LOG_OF_AOT => "-Xlog:cds,class+path=info",
            _ => "-Xlog:aot,cds,class+path=info",
        };
        let words: Vec<OsString> = self.words.iter().skip(1).map(Into::into).collect();
        let mut command: Vec<&str> =
            self.words.iter().take(1 + archives::options_end(&words)).map(String::as_str).collect();
        if command.is_empty() {
            command.push("java");
        }
        // The class path of a jar is the jar.
        let mut behind = self.words.iter().skip(command.len()).map(String::as_str);
        if behind.next() == Some("-jar") {
            command.extend(["-cp"].into_iter().chain(behind.next()));
        }
        command.extend([log, "-version"]);
        command.into_iter().map(|word| quoted(&printable(word))).collect()
    }

    /// Whether it is a question why an archive is not used.
    fn has_refused(&self) -> bool {
        !self.is_off && (self.archived == 0 || self.named.iter().any(|row| row.refusal.is_some()))
    }

    /// What each archive that the command line names comes to; one sentence each.
    fn fates(&self) -> Vec<String> {
        let others = self
            .words
            .iter()
            .filter(|word| ["-agentpath:", "-agentlib:", "-javaagent:"].iter().any(|a| word.starts_with(a)));
        let others: Vec<String> = others.map(|word| printable(word)).collect();
        let fate = |row: &ArchiveRow| match row.refusal {
            Some(refusal) => {
                format!("the JVM did not use \"{}\": {}", row.file, because(refusal, &row.detail, &others))
            }
            None => format!("the JVM used \"{}\"", printable(&row.file)),
        };
        self.named.iter().map(fate).collect()
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

/// Why, as a clause.
fn because(refusal: ArchiveRefusal, detail: &str, agents: &[String]) -> String {
    match refusal {
        ArchiveRefusal::Unknown if detail.is_empty() => "why is not known".to_owned(),
        ArchiveRefusal::Unknown => format!("why is not known ({detail})"),
        ArchiveRefusal::Missing => "there is no such file".to_owned(),
        ArchiveRefusal::Unreadable => format!("it cannot be read ({detail})"),
        ArchiveRefusal::NoArchive => "it is no archive of classes".to_owned(),
        ArchiveRefusal::OtherJvm => format!("another JVM made it ({detail})"),
        ArchiveRefusal::Truncated => "its end is missing".to_owned(),
        ArchiveRefusal::Flag if detail == "UseCompressedOops" => {
            format!("it was made with another value of {detail} (which the collector and the size of the heap decide)")
        }
        ArchiveRefusal::Flag => format!("it was made with another value of {detail}"),
        ArchiveRefusal::Option => format!("{detail} excludes archives, or those made without it"),
        ArchiveRefusal::Agent if detail.is_empty() => {
            format!("an agent reads classes as they are loaded ({})", agents.join(", "))
        }
        ArchiveRefusal::Agent => format!("the agent {detail} excludes it"),
        ArchiveRefusal::ChangedJar => format!("{detail} was changed after it was made"),
        ArchiveRefusal::ClassPath => format!("it was made with another class path, without {detail}"),
    }
}

/// What to say of it, a sentence each; none if there is nothing to gain.
pub(crate) fn advice(report: &WarmUpReport) -> Vec<String> {
    let Some(archive) = Archive::of(report) else { return Vec::new() };
    let mut all = archive.fates();
    let is_said = archive.named.iter().any(|row| row.refusal.is_some());
    let (make, using) = archive.recipe();
    let causes = report.causes();
    let cost: u64 = [Cause::Load, Cause::Link, Cause::Verify].iter().map(|&cause| causes.of(cause).0).sum();
    let cost = duration(Nanos(cost));
    let more = match (&archive.asked, archive.archived) {
        _ if is_said => None,
        _ if archive.is_off => Some("class archives are switched off by -Xshare:off".to_owned()),
        (Some(asked), 0) => Some(format!(
            "{asked} names a class archive, but the JVM used none (another JDK build, class path, collector or flag)"
        )),
        (None, 0) => Some(
            "the JVM used no class archive: this JDK has none (java -Xshare:dump makes one), or could not use it"
                .to_owned(),
        ),
        _ if archive.is_small() => None,
        (_, archived) => Some(format!(
            "{} not in the class archive ({} of all), and loading, linking and verifying took {cost}: run once with {make}, \
             then with {using}; Martini leaves an archive usable",
            counted(archive.loaded.saturating_sub(archived), "class was", "classes were"),
            percent(archive.loaded.saturating_sub(archived), archive.loaded),
        )),
    };
    all.extend(more);
    all
}

/// The command that has the JVM say why it does not use an archive, in words for a shell, if that is a question.
pub(crate) fn question(report: &WarmUpReport) -> Option<Vec<String>> {
    Archive::of(report).filter(Archive::has_refused).map(|archive| archive.shows_why())
}

/// The same as JSON.
pub(crate) fn json(report: &WarmUpReport) -> Value {
    Archive::of(report).map_or(Value::Null, |archive| {
        json!({
            "classes": archive.loaded,
            "from_archive": archive.archived,
            "asked_by": archive.asked,
            "switched_off": archive.is_off,
            "named": archive.named.iter().map(|row| json!({
                "file": row.file,
                "used": row.refusal.is_none(),
                "refusal": row.refusal.map(ArchiveRefusal::as_str),
                "detail": row.detail,
            })).collect::<Vec<_>>(),
            "show_why": archive.has_refused().then(|| archive.shows_why().join(" ")),
            "advice": advice(report),
        })
    })
}
