//! Programs that nobody here wrote, one function each. `{real}` in an argument stands for the folder with their inputs, and `{bench}`
//! for that with the inputs of the benchmarks.

use std::env;
use std::path::PathBuf;

use crate::jdk::{self, Jdk};
use crate::martini::workspace;
use crate::profiled::Profiled;

/// One program.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name in the names of tests.
    pub name: &'static str,
    /// Files in the folder of jars; none for programs of the JDK.
    jars: &'static [&'static str],
    main_class: &'static str,
    args: &'static [&'static str],
    /// Arguments with which it works so long that what the VM makes while it loads classes is less than a thousandth; none where
    /// there are no such.
    work: &'static [&'static str],
    /// Its packages, if they look like the class library's.
    pub packages: &'static [&'static str],
    needs_compiler: bool,
    /// The newest feature release that it runs on.
    newest: Option<u32>,
    /// Takes out of its output what differs from run to run.
    pub normalise: fn(&str) -> String,
}

impl Program {
    /// Why it cannot run on this machine, if it cannot.
    pub fn missing(&self) -> Option<&'static str> {
        if !self.jars.is_empty() && !jars().is_some_and(|folder| self.jars.iter().all(|jar| folder.join(jar).is_file()))
        {
            return Some("MARTINI_REAL_PROGRAMS names no folder with its jars");
        }
        self.fitting().is_empty().then_some("no JDK here runs it")
    }

    /// The JDKs that it runs on.
    pub fn fitting(&self) -> Vec<&'static Jdk> {
        let fits = |jdk: &&Jdk| self.newest.is_none_or(|newest| jdk.feature <= newest);
        if self.needs_compiler {
            jdk::all().iter().filter(|jdk| jdk.has_javac).filter(fits).collect()
        } else {
            jdk::each_feature().into_iter().filter(fits).collect()
        }
    }

    /// Whether it can work longer than it has to.
    pub fn has_work(&self) -> bool {
        !self.work.is_empty()
    }

    /// The same program with more to do.
    #[must_use]
    pub fn working(self) -> Self {
        Self { args: self.work, ..self }
    }

    /// The program, run by a main class of ours with arguments of its own.
    pub fn behind<'a>(&self, main: &[&str], jdk: &'a Jdk) -> Profiled<'a> {
        let folder = jars().unwrap_or_default();
        let (real, bench) = (workspace().join("bci-tests/real"), workspace().join("bci-tests/real-bench"));
        let args = self.args.iter();
        let args =
            args.map(|a| a.replace("{real}", &real.to_string_lossy()).replace("{bench}", &bench.to_string_lossy()));
        let args: Vec<String> = [self.main_class.to_owned()].into_iter().chain(args).collect();
        let profiled = Profiled::on(jdk).jars(self.jars.iter().map(|jar| folder.join(jar)));
        profiled.main(main[0]).args(&main[1..]).args(&args)
    }
}

/// The folder with the programs' jars, if the machine has it.
pub fn jars() -> Option<PathBuf> {
    env::var_os("MARTINI_REAL_PROGRAMS").map(PathBuf::from)
}

const PROGRAM: Program = Program {
    name: "",
    jars: &[],
    main_class: "",
    args: &[],
    work: &[],
    packages: &[],
    needs_compiler: false,
    newest: None,
    normalise: str::to_owned,
};

/// The JDK's compiler.
pub fn javac() -> Program {
    Program {
        name: "javac",
        main_class: "com.sun.tools.javac.Main",
        args: &["-Xlint:all", "-d", "out", "{real}/javac/Inventory.java"],
        packages: &["com.sun.tools.javac."],
        needs_compiler: true,
        ..PROGRAM
    }
}

/// Eclipse's compiler.
pub fn ecj() -> Program {
    Program {
        name: "ecj",
        jars: &["ecj-3.33.0.jar"],
        main_class: "org.eclipse.jdt.internal.compiler.batch.Main",
        args: &["-source", "11", "-target", "11", "-d", "out", "{real}/javac/Inventory.java"],
        work: &["-repeat", "40", "-source", "11", "-target", "11", "-d", "out", "{real}/javac/Inventory.java"],
        ..PROGRAM
    }
}

/// A parser generator, which brings two runtimes of its own and a template engine.
pub fn antlr4() -> Program {
    Program {
        name: "antlr4",
        jars: &[
            "antlr4-4.13.1.jar",
            "antlr4-runtime-4.13.1.jar",
            "antlr-runtime-3.5.3.jar",
            "ST4-4.3.4.jar",
            "icu4j-72.1.jar",
            "org.abego.treelayout.core-1.0.3.jar",
        ],
        main_class: "org.antlr.v4.Tool",
        args: &["-visitor", "-o", "out", "{real}/antlr4/Arithmetic.g4"],
        ..PROGRAM
    }
}

/// A database in memory, under a script.
pub fn hsqldb() -> Program {
    Program {
        name: "hsqldb",
        jars: &["hsqldb-2.7.2.jar", "sqltool-2.7.2.jar"],
        main_class: "org.hsqldb.cmdline.SqlTool",
        args: &["--inlineRc=url=jdbc:hsqldb:mem:orders,user=SA,password=", "{real}/hsqldb/orders.sql"],
        work: &["--inlineRc=url=jdbc:hsqldb:mem:orders,user=SA,password=", "{bench}/queries.sql"],
        ..PROGRAM
    }
}

/// A build with files, patterns and a digest.
pub fn ant() -> Program {
    Program {
        name: "ant",
        jars: &["ant-1.10.14.jar", "ant-launcher-1.10.14.jar"],
        main_class: "org.apache.tools.ant.Main",
        args: &["-f", "{real}/ant/build.xml", "-Dbasedir=."],
        work: &["-f", "{bench}/build.xml", "-Dbasedir=."],
        normalise: |out| out.lines().filter(|line| !line.starts_with("Total time:")).collect::<Vec<_>>().join("\n"),
        ..PROGRAM
    }
}

/// A scanner generator.
pub fn jflex() -> Program {
    Program {
        name: "jflex",
        jars: &["jflex-1.9.1.jar", "java-cup-runtime-11b-20160615-1.jar"],
        main_class: "jflex.Main",
        args: &["-d", "out", "{real}/jflex/words.flex"],
        work: &["-q", "-d", "out", "{bench}/query.flex", "{bench}/query.flex"],
        ..PROGRAM
    }
}

/// A dynamic language on invokedynamic, which compiles the script to classes first.
pub fn groovy() -> Program {
    Program {
        name: "groovy",
        jars: &["groovy-4.0.15.jar"],
        main_class: "groovy.ui.GroovyMain",
        args: &["{real}/groovy/people.groovy"],
        work: &["{bench}/people.groovy", "1500"],
        // Its ASM reads no class files of Java 25.
        newest: Some(21),
        ..PROGRAM
    }
}

/// A dynamic language with persistent collections, which makes a class for every function.
pub fn clojure() -> Program {
    Program {
        name: "clojure",
        jars: &["clojure-1.11.1.jar", "spec.alpha-0.3.218.jar", "core.specs.alpha-0.2.62.jar"],
        main_class: "clojure.main",
        args: &["{real}/clojure/primes.clj"],
        work: &["{bench}/sieve.clj", "150"],
        ..PROGRAM
    }
}

/// JavaScript, compiled to classes.
pub fn rhino() -> Program {
    Program {
        name: "rhino",
        jars: &["rhino-1.7.14.jar"],
        main_class: "org.mozilla.javascript.tools.shell.Main",
        args: &["-f", "{real}/rhino/shapes.js"],
        work: &["{bench}/work.js", "30"],
        ..PROGRAM
    }
}

/// An interpreter by reflection, whose class files are older than stack maps.
pub fn beanshell() -> Program {
    Program {
        name: "beanshell",
        jars: &["bsh-2.0b4.jar"],
        main_class: "bsh.Interpreter",
        args: &["{real}/beanshell/queue.bsh"],
        ..PROGRAM
    }
}
