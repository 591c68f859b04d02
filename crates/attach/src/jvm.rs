//! Which JVMs run, and what they are.

use std::fs::File;
use std::path::Path;

use rustix::fs::OFlags;
use trace::command_line::WITH_VALUE;

use crate::files::bytes_of;
use crate::ids::Pid;
use crate::perf_data::PerfData;
use crate::process::Process;
use crate::root::{Root, TMP};

/// HotSpot itself.
const LIBRARY: &str = "libjvm.so";
/// Variables whose words a JVM adds to its command line.
const VARIABLES: [&[u8]; 3] = [b"JAVA_TOOL_OPTIONS=", b"JDK_JAVA_OPTIONS=", b"_JAVA_OPTIONS="];
/// A `release` file is shorter.
const LONGEST_RELEASE: u64 = 64 << 10;

/// A JVM that runs.
#[derive(Debug)]
pub struct Jvm {
    /// Its process.
    pub process: Process,
    /// The version of Java, if it can be found.
    pub version: Option<String>,
    /// The name of the VM.
    pub vm: Option<String>,
    /// The main class or jar, and its arguments.
    pub command: Option<String>,
    /// It is in another file system or space of process ids than we are; unknown without the right to look.
    pub is_contained: Option<bool>,
    /// The files that are mapped into it; unknown without the right to look.
    pub mapped: Option<Vec<String>>,
}

impl Jvm {
    /// What a process is, if it is a JVM, or looks like one that we may not look at.
    pub fn of(process: Process) -> Option<Jvm> {
        let mapped = process.mapped().ok();
        let home = match &mapped {
            Some(mapped) => Some(home(library(mapped)?)),
            None => {
                let name = process.read("comm").unwrap_or_default();
                (name.trim_ascii_end() == b"java").then_some(None)?
            }
        };
        let root = Root::of(&process).ok();
        let data = root.as_ref().and_then(|root| perf_data(&process, root)).unwrap_or_default();
        let text = |name: &str| data.text(name).filter(|text| !text.is_empty()).map(str::to_owned);
        let version = text("java.property.java.version").or_else(|| release(root.as_ref()?, home??));
        let is_contained = process.is_apart("mnt").zip(process.is_apart("pid")).map(|(mount, pid)| mount || pid);
        let command = text("sun.rt.javaCommand").or_else(|| command(&process.command_line()));
        Some(Jvm { version, vm: text("java.property.java.vm.name"), command, is_contained, mapped, process })
    }

    /// The feature release, such as 17.
    pub fn feature(&self) -> Option<u32> {
        let version = self.version.as_deref()?;
        let mut numbers = version.split(['.', '-', '+', '_']).map(|number| number.parse().ok());
        match numbers.next()? {
            Some(1) => numbers.next()?,
            feature => feature,
        }
    }
}

/// HotSpot's library in a process, open; `None` if there is none, or it cannot be read.
pub fn hotspot(process: &Process) -> Option<File> {
    let mapped = process.mapped().ok()?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    Root::of(process).ok()?.open(Path::new(library(&mapped)?), flags).map(File::from).ok()
}

/// The JVMs of this machine, by their ids.
pub fn list() -> Vec<Jvm> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    pids.sort_unstable();
    pids.into_iter().filter_map(|pid| Jvm::of(Process::find(Pid(pid)).ok()?)).collect()
}

/// The path of HotSpot among mapped files. OpenJ9 has a library of that name, too, and others beside it.
pub(crate) fn library(mapped: &[String]) -> Option<&str> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    if mapped.iter().any(|path| name(path).starts_with("libj9vm")) {
        return None;
    }
    let mut paths = mapped.iter().map(|path| path.strip_suffix(" (deleted)").unwrap_or(path));
    paths.find(|path| path.rsplit('/').next() == Some(LIBRARY))
}

/// The JDK's folder: of `HOME/lib/server/libjvm.so`, and in older ones of `HOME/lib/PROCESSOR/server/libjvm.so`.
fn home(library: &str) -> Option<&Path> {
    Path::new(library).ancestors().find(|folder| folder.ends_with("lib"))?.parent()
}

/// The version in a JDK's file `release`.
fn release(root: &Root, home: &Path) -> Option<String> {
    let file = root.open(&home.join("release"), OFlags::RDONLY | OFlags::NONBLOCK).ok()?;
    let bytes = bytes_of(File::from(file), LONGEST_RELEASE).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let version = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    Some(version.trim().trim_matches('"').to_owned())
}

fn perf_data(process: &Process, root: &Root) -> Option<PerfData> {
    PerfData::find(&root.folder(Path::new(TMP)).ok()?, process.inner_pid(), process.owner())
}

/// The main class or jar of a command line, and what stands behind it.
fn command(words: &[String]) -> Option<String> {
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-jar" | "-m" | "--module" => break,
            option if WITH_VALUE.contains(&option) => drop(words.next()),
            option if option.starts_with('-') || option.starts_with('@') => {}
            _ => return Some([word].into_iter().chain(words).map(String::as_str).collect::<Vec<_>>().join(" ")),
        }
    }
    let rest = words.map(String::as_str).collect::<Vec<_>>().join(" ");
    Some(rest).filter(|rest| !rest.is_empty())
}

/// Whether a switch of the JVM, `-XX:+NAME` or `-XX:-NAME`, was set at its start, as far as can be seen: in what it publishes, its
/// command line or its environment.
pub(crate) fn switch(process: &Process, root: &Root, name: &str) -> Option<bool> {
    let data = perf_data(process, root).unwrap_or_default();
    let published = ["java.rt.vmArgs", "java.rt.vmFlags"].map(|name| data.text(name).unwrap_or_default().to_owned());
    let environment = process.read("environ").unwrap_or_default();
    let variables = environment.split(|&byte| byte == 0).filter_map(|variable| {
        let words = VARIABLES.iter().find_map(|name| variable.strip_prefix(*name))?;
        Some(String::from_utf8_lossy(words).into_owned())
    });
    let texts = published.into_iter().chain(variables).chain(process.command_line());
    let set = |word: &str| match word.strip_suffix(name)? {
        "-XX:+" => Some(true),
        "-XX:-" => Some(false),
        _ => None,
    };
    // The last one counts.
    texts.flat_map(|text| text.split_whitespace().filter_map(set).collect::<Vec<_>>()).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Option<String> {
        command(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn the_main_class_stands_behind_the_options() {
        assert_eq!(found("java -Xmx1g -cp a:b demo.Main x").as_deref(), Some("demo.Main x"));
        assert_eq!(found("java @args -jar app.jar -v").as_deref(), Some("app.jar -v"));
        assert_eq!(found("java -p mods -m demo/demo.Main").as_deref(), Some("demo/demo.Main"));
        assert_eq!(found("java -version"), None);
        assert_eq!(command(&[]), None);
    }

    #[test]
    fn hotspot_and_its_home_are_found_in_the_mapped_files() {
        let mapped = ["/a/libjvm.so.1", "/opt/jdk/lib/server/libjvm.so (deleted)"].map(str::to_owned);
        let library = library(&mapped).unwrap();
        assert_eq!(library, "/opt/jdk/lib/server/libjvm.so");
        assert_eq!(home(library), Some(Path::new("/opt/jdk")));
        assert_eq!(home("/jdk8/jre/lib/amd64/server/libjvm.so"), Some(Path::new("/jdk8/jre")));
        let openj9 = ["/j9/lib/default/libj9vm29.so", "/j9/lib/server/libjvm.so"].map(str::to_owned);
        assert_eq!(super::library(&openj9), None);
        assert_eq!(home("/odd/libjvm.so"), None);
    }
}
