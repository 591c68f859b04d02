//! The JDKs of this machine.

use std::collections::HashSet;
use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::thread;

use crate::say::say;

/// The oldest Java that the agent is for.
const OLDEST: u32 = 11;

/// The releases with long support: a test of one that is not here is listed as ignored.
const PROMISED: [u32; 4] = [11, 17, 21, 25];

/// A garbage collector of HotSpot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collector {
    /// One thread, everything stopped.
    Serial,
    /// Several threads, everything stopped.
    Parallel,
    /// The default of larger machines.
    G1,
    /// Concurrent, with short pauses; generational in newer releases.
    Z,
    /// Concurrent, with short pauses; not in every build.
    Shenandoah,
}

impl Collector {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Serial, Self::Parallel, Self::G1, Self::Z, Self::Shenandoah];

    /// Its name in the names of tests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Serial => "serial",
            Self::Parallel => "parallel",
            Self::G1 => "g1",
            Self::Z => "zgc",
            Self::Shenandoah => "shenandoah",
        }
    }

    /// The JVM options that choose it. ZGC is experimental before JDK 15.
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Serial => &["-XX:+UseSerialGC"],
            Self::Parallel => &["-XX:+UseParallelGC"],
            Self::G1 => &["-XX:+UseG1GC"],
            Self::Z => &["-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"],
            Self::Shenandoah => &["-XX:+UseShenandoahGC"],
        }
    }
}

/// How the JVM runs bytecode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Interpreter only.
    Interpreted,
    /// Interpreter and the fast compiler.
    C1,
    /// As shipped.
    Default,
}

impl Mode {
    /// The JVM options that choose it.
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Interpreted => &["-Xint"],
            Self::C1 => &["-XX:TieredStopAtLevel=1"],
            Self::Default => &[],
        }
    }
}

/// One Java installation.
#[derive(Debug)]
pub struct Jdk {
    /// Its folder.
    pub home: PathBuf,
    /// Feature release, such as 17.
    pub feature: u32,
    /// Full version, such as 17.0.9.
    pub version: String,
    /// The very build, such as 17.0.9+9-Debian-1.
    pub build: String,
    /// Who built it.
    pub vendor: String,
    /// Whether it has a compiler.
    pub has_javac: bool,
    collectors: Vec<Collector>,
}

impl Jdk {
    /// A command that runs one of its programs.
    pub fn tool(&self, name: &str) -> Command {
        Command::new(self.home.join("bin").join(name))
    }

    /// Whether this collector was built into it.
    pub fn supports(&self, collector: Collector) -> bool {
        self.collectors.contains(&collector)
    }

    /// Whether a program that goes on is dumped by none of its recordings of single objects: with this collector of these releases its
    /// garbage would be kept (docs/limits.md).
    pub fn keeps_garbage_of_dumps(&self, collector: Collector) -> bool {
        self.feature < 17 && collector == Collector::Z
    }

    /// Whether it is the oldest or the newest that is here.
    pub fn is_end(&self) -> bool {
        ends().iter().any(|end| end.feature == self.feature)
    }

    /// Asks the installation at `home` what it is; none if there is no HotSpot in it that starts.
    fn probe(home: &Path) -> Option<Self> {
        let java = home.join("bin/java");
        if !java.is_file() {
            return None;
        }
        let asked = Command::new(java)
            .args(["-XshowSettings:properties", "-XX:+UnlockExperimentalVMOptions", "-XX:+PrintFlagsFinal", "-version"])
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&asked.stderr).into_owned();
        let property = |name: &str| {
            let line = text.lines().find_map(|l| l.trim().strip_prefix(name)?.strip_prefix(" = "));
            line.map(str::to_owned)
        };
        let feature = property("java.specification.version")?.parse().ok()?;
        let vm = property("java.vm.name")?;
        (vm.contains("OpenJDK") || vm.contains("HotSpot")).then_some(())?;
        let flags = String::from_utf8_lossy(&asked.stdout);
        let has_flag = |collector: &Collector| flags.contains(&format!(" Use{collector:?}GC "));
        Some(Self {
            home: home.to_owned(),
            feature,
            version: property("java.version")?,
            build: property("java.runtime.version")?,
            vendor: property("java.vendor").unwrap_or_default(),
            has_javac: home.join("bin/javac").is_file(),
            collectors: Collector::ALL.into_iter().filter(has_flag).collect(),
        })
    }
}

impl fmt::Display for Jdk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.version, self.vendor)
    }
}

/// All JDKs from 11 on, in the order of the places they were looked for: `MARTINI_JDKS` (homes separated by colons),
/// `JAVA_HOME`, the `java` on the `PATH`, and the folders of `/usr/lib/jvm`.
///
/// The first call prints which were found.
pub fn all() -> &'static [Jdk] {
    static ALL: OnceLock<Vec<Jdk>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut seen = HashSet::new();
        let mut homes: Vec<PathBuf> = homes().iter().filter_map(|home| home.canonicalize().ok()).collect();
        homes.retain(|home| seen.insert(home.clone()));
        // All at the same time: each is a start of a JVM.
        let probes: Vec<_> = homes.into_iter().map(|home| thread::spawn(move || Jdk::probe(&home))).collect();
        let probed = probes.into_iter().filter_map(|probe| probe.join().expect("it does not panic"));
        let found: Vec<Jdk> = probed.filter(|jdk| jdk.feature >= OLDEST).collect();
        assert!(!found.is_empty(), "no JDK {OLDEST} or newer: install one, or name its folder in JAVA_HOME");
        for jdk in &found {
            let compiler = if jdk.has_javac { ", with javac" } else { "" };
            say(&format!("JDK {jdk}{compiler} in {}", jdk.home.display()));
        }
        found
    })
}

/// The feature releases that are to be tested: those that are promised, here or not, and whatever else is here.
pub fn features() -> Vec<u32> {
    let mut features: Vec<u32> = all().iter().map(|jdk| jdk.feature).chain(PROMISED).collect();
    features.sort_unstable();
    features.dedup();
    features
}

/// The JDK of a feature release: of several the one found first.
pub fn of(feature: u32) -> Option<&'static Jdk> {
    all().iter().find(|jdk| jdk.feature == feature)
}

/// One JDK of each feature release that is here, oldest first.
pub fn each_feature() -> Vec<&'static Jdk> {
    features().into_iter().filter_map(of).collect()
}

/// The oldest and the newest JDK that are here.
pub fn ends() -> [&'static Jdk; 2] {
    let here = each_feature();
    [here[0], here[here.len() - 1]]
}

/// The JDK for tests that need any one: the one found first that is no older than 17, or else the first.
pub fn any() -> &'static Jdk {
    all().iter().find(|jdk| jdk.feature >= 17).unwrap_or(&all()[0])
}

/// The newest JDK that has a compiler.
pub fn compiler() -> &'static Jdk {
    let compilers = all().iter().filter(|jdk| jdk.has_javac);
    compilers.max_by_key(|jdk| jdk.feature).expect("no JDK with javac: install one, or name its folder in JAVA_HOME")
}

fn homes() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = Vec::new();
    if let Some(listed) = env::var_os("MARTINI_JDKS") {
        homes.extend(env::split_paths(&listed).filter(|home| !home.as_os_str().is_empty()));
    }
    homes.extend(env::var_os("JAVA_HOME").map(PathBuf::from));
    if let Some(path) = env::var_os("PATH") {
        let java = env::split_paths(&path).map(|dir| dir.join("java")).find(|java| java.is_file());
        let real = java.and_then(|java| java.canonicalize().ok());
        homes.extend(real.and_then(|java| Some(java.parent()?.parent()?.to_owned())));
    }
    let mut installed: Vec<PathBuf> =
        fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    installed.sort();
    homes.extend(installed);
    homes
}
