//! The programs that `compare` runs, one entry each. To add one, add an entry.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use bci_tests::jdk::Jdk;
use bci_tests::martini::workspace;
use bci_tests::tomcat;

use crate::built::{self, Built};
use crate::jars::Jars;
use crate::launch::Launch;
use crate::run::Run;

/// Sources for compilers to work on: 990 files, 224,000 lines, which need nothing beyond the class library.
const SOURCES: &str = "commons-math3-3.6.1-sources.jar";

/// Every program has a heap of this size, so that collections come alike in all variants.
const HEAP: [&str; 3] = ["-Xms1g", "-Xmx1g", "-XX:+UseG1GC"];

/// A program, sized to run for more than 5 seconds on a machine of 2026.
pub(crate) struct Program {
    /// How `--program` names it.
    pub(crate) id: &'static str,
    /// What it does.
    pub(crate) title: &'static str,
    jars: &'static [&'static str],
    /// A folder of `bci-tests/real` whose sources are compiled with the jars.
    compiled_from: Option<&'static str>,
    main_class: &'static str,
    args: &'static [Arg],
    needs_compiler: bool,
    /// Whether it runs when no program is named.
    pub(crate) usual: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Arg {
    Word(&'static str),
    /// A file or folder of `bci-tests/real-bench`.
    Input(&'static str),
    /// `@` and the list of [`SOURCES`].
    Sources,
    /// How many documents each thread reads: with most variants, and with those that are dear.
    Documents {
        full: u32,
        dear: u32,
    },
    /// How often something is done: when runs are timed, and when their instructions are counted.
    Rounds {
        timed: u32,
        counted: u32,
    },
}

use Arg::{Documents, Input, Rounds, Sources, Word};

/// How much a program is given to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// Seconds of it.
    Timed,
    /// What takes seconds though each allocation costs hundreds of nanoseconds.
    Dear,
    /// What takes minutes where each instruction takes fifty times as long.
    Counted,
}

const PROGRAM: Program = Program {
    id: "",
    title: "",
    jars: &[],
    compiled_from: None,
    main_class: "",
    args: &[],
    needs_compiler: false,
    usual: true,
};

/// All of them; the first is made to allocate, the last shows the start of a JVM, the others are real programs.
pub(crate) const PROGRAMS: &[Program] = &[
    Program {
        id: "json",
        title: "JSON reader and writer on 2 threads",
        main_class: "JsonBench",
        args: &[Word("2"), Word("5000"), Documents { full: 1_300_000, dear: 32_500 }],
        ..PROGRAM
    },
    Program {
        id: "javac",
        title: "javac, 990 sources of Commons Math",
        main_class: "com.sun.tools.javac.Main",
        args: &[
            Word("-nowarn"),
            Word("-proc:none"),
            Word("-XDignore.symbol.file"),
            Word("-encoding"),
            Word("UTF-8"),
            Word("-d"),
            Word("out"),
            Sources,
        ],
        needs_compiler: true,
        ..PROGRAM
    },
    Program {
        id: "ecj",
        title: "Eclipse compiler, the same sources twice",
        jars: &["ecj-3.33.0.jar"],
        main_class: "org.eclipse.jdt.internal.compiler.batch.Main",
        args: &[
            Word("-repeat"),
            Rounds { timed: 2, counted: 1 },
            Word("-source"),
            Word("11"),
            Word("-target"),
            Word("11"),
            Word("-nowarn"),
            Word("-proc:none"),
            Word("-encoding"),
            Word("UTF-8"),
            Word("-d"),
            Word("out"),
            Sources,
        ],
        ..PROGRAM
    },
    Program {
        id: "hsqldb",
        title: "HSQLDB, 60,000 transactions of 2 clients and reports",
        jars: &["hsqldb-2.7.2.jar"],
        main_class: "SqlLoad",
        args: &[Word("2"), Rounds { timed: 30_000, counted: 1500 }],
        ..PROGRAM
    },
    Program {
        id: "clojure",
        title: "Clojure compiling 11 of its namespaces, 16 times",
        jars: &["clojure-1.11.1.jar", "spec.alpha-0.3.218.jar", "core.specs.alpha-0.2.62.jar"],
        main_class: "clojure.main",
        args: &[Input("compile.clj"), Rounds { timed: 16, counted: 2 }],
        ..PROGRAM
    },
    Program {
        id: "rhino",
        title: "Rhino, JavaScript on trees, strings and JSON",
        jars: &["rhino-1.7.14.jar"],
        main_class: "org.mozilla.javascript.tools.shell.Main",
        args: &[Input("work.js"), Rounds { timed: 250, counted: 30 }],
        ..PROGRAM
    },
    Program {
        id: "jflex",
        title: "JFlex, the scanner of a query language",
        jars: &["jflex-1.9.1.jar", "java-cup-runtime-11b-20160615-1.jar"],
        main_class: "jflex.Main",
        args: &[Word("-q"), Word("-d"), Word("out"), Input("query.flex")],
        ..PROGRAM
    },
    Program {
        id: "tomcat",
        title: "Tomcat, a small shop, 16 clients in the same JVM",
        jars: &tomcat::JARS,
        compiled_from: Some("tomcat"),
        main_class: "ServerLoad",
        args: &[Word("16"), Rounds { timed: 8000, counted: 300 }],
        ..PROGRAM
    },
    Program { id: "hello", title: "hello world", main_class: "Hello", usual: false, ..PROGRAM },
];

/// The jars that Maven has to bring for these programs.
pub(crate) fn jars<'a>(programs: &[&'a Program]) -> impl Iterator<Item = &'a str> {
    let sources = programs.iter().any(|program| program.args.contains(&Sources)).then_some(SOURCES);
    let own: Vec<&str> = programs.iter().flat_map(|program| program.jars).copied().collect();
    own.into_iter().chain(sources)
}

/// A program whose jars have been found.
pub(crate) struct Ready<'a> {
    pub(crate) program: &'a Program,
    class_path: Vec<PathBuf>,
    /// The list of [`SOURCES`], if the program asks for it.
    sources: Option<PathBuf>,
}

impl<'a> Ready<'a> {
    /// Finds and unpacks what it needs; the error says what is missing, here or in the JDK.
    pub(crate) fn new(program: &'a Program, built: &Built, jars: &Jars, jdk: &Jdk) -> Result<Self, String> {
        if program.needs_compiler && !jdk.has_javac {
            return Err(format!("JDK {jdk} is a runtime without javac"));
        }
        let found: Result<Vec<PathBuf>, String> = program.jars.iter().map(|name| jars.find(name)).collect();
        let sources = program.args.contains(&Sources).then(|| list_sources(built, jars)).transpose()?;
        let mut class_path: Vec<PathBuf> = [built.classes.clone()].into_iter().chain(found?).collect();
        if let Some(name) = program.compiled_from {
            let folder = workspace().join("bci-tests/real").join(name);
            let classes = built.target.join("bench-sources-of").join(name);
            let needed: Vec<&Path> = class_path.iter().map(PathBuf::as_path).collect();
            built::compile(&[&folder], &needed, &classes)?;
            class_path.push(classes);
        }
        Ok(Self { program, class_path, sources })
    }

    /// The command line, in an empty folder.
    pub(crate) fn command(&self, jdk: &Jdk, launch: &Launch, length: Length, folder: &Path) -> Result<Command, String> {
        let path = env::join_paths(self.class_path.iter().chain(&launch.class_path)).map_err(|e| e.to_string())?;
        let inputs = workspace().join("bci-tests/real-bench");
        let mut command = jdk.tool("java");
        command.current_dir(folder).args(HEAP).args(&launch.options).arg("-cp").arg(path);
        command.args(&launch.wrapper).arg(self.program.main_class);
        for arg in self.program.args {
            command.arg(match arg {
                Word(word) => OsString::from(word),
                Input(name) => inputs.join(name).into(),
                Documents { full, dear } => if length == Length::Timed { full } else { dear }.to_string().into(),
                Rounds { timed, counted } => if length == Length::Counted { counted } else { timed }.to_string().into(),
                Sources => {
                    let mut list = OsString::from("@");
                    list.extend(self.sources.as_ref().map(|path| path.as_os_str()));
                    list
                }
            });
        }
        Ok(command)
    }
}

impl Program {
    /// Whether it is made to allocate, counts its allocations and measures itself once it is warm.
    pub(crate) fn counts_itself(&self) -> bool {
        self.args.iter().any(|arg| matches!(arg, Documents { .. }))
    }

    /// Whether it is a program that people use.
    pub(crate) fn is_real(&self) -> bool {
        self.usual && !self.counts_itself()
    }

    /// What must be the same in every run of the output. A program that measures itself also checks itself.
    pub(crate) fn lasting_output<'r>(&self, run: &'r Run) -> &'r str {
        if self.counts_itself() { "" } else { &run.out }
    }
}

/// Unpacks the sources once and lists them for a compiler's command line.
fn list_sources(built: &Built, jars: &Jars) -> Result<PathBuf, String> {
    let jar = jars.find(SOURCES)?;
    let folder = built.target.join("bench-sources");
    let list = folder.join("files");
    if list.is_file() {
        return Ok(list);
    }
    built::unpack(&jar, &[], &folder)?;
    let failed = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    let mut names = Vec::new();
    let mut open = vec![folder];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).map_err(|e| failed(&dir, e))?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "java") {
                // Both compilers take a name in quotes, with backslashes doubled.
                names.push(format!("\"{}\"\n", path.to_string_lossy().replace('\\', "\\\\")));
            }
        }
    }
    names.sort();
    fs::write(&list, names.concat()).map_err(|e| failed(&list, e))?;
    Ok(list)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn programs_can_be_told_apart_and_their_inputs_are_there() {
        let ids: HashSet<&str> = PROGRAMS.iter().map(|program| program.id).collect();
        assert_eq!(ids.len(), PROGRAMS.len());
        for arg in PROGRAMS.iter().flat_map(|program| program.args) {
            if let Input(name) = arg {
                assert!(workspace().join("bci-tests/real-bench").join(name).is_file(), "{name}");
            }
        }
    }

    #[test]
    fn maven_is_asked_for_what_the_chosen_programs_need() {
        let chosen = |id: &str| PROGRAMS.iter().find(|program| program.id == id).expect("an entry");
        assert_eq!(jars(&[chosen("json")]).count(), 0);
        assert_eq!(jars(&[chosen("javac"), chosen("rhino")]).collect::<Vec<_>>(), ["rhino-1.7.14.jar", SOURCES]);
    }
}
