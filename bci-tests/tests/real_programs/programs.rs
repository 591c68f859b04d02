//! The programs, one function each. `{real}` in an argument stands for the folder with their inputs, and `{bench}` for
//! that with the inputs of the benchmarks.

/// One program.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// Files in the folder of jars; none for programs of the JDK.
    pub(crate) jars: &'static [&'static str],
    pub(crate) main_class: &'static str,
    pub(crate) args: &'static [&'static str],
    /// Arguments with which it works so long that what the VM makes while it loads classes is less than a thousandth; none where
    /// there are no such.
    pub(crate) work: &'static [&'static str],
    /// Its packages, if they look like the class library's.
    pub(crate) packages: &'static [&'static str],
    pub(crate) needs_compiler: bool,
    /// The newest feature release that it runs on.
    pub(crate) newest: Option<u32>,
    /// Takes out of its output what differs from run to run.
    pub(crate) normalise: fn(&str) -> String,
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
pub(crate) fn javac() -> Program {
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
pub(crate) fn ecj() -> Program {
    Program {
        name: "ECJ",
        jars: &["ecj-3.33.0.jar"],
        main_class: "org.eclipse.jdt.internal.compiler.batch.Main",
        args: &["-source", "11", "-target", "11", "-d", "out", "{real}/javac/Inventory.java"],
        work: &["-repeat", "40", "-source", "11", "-target", "11", "-d", "out", "{real}/javac/Inventory.java"],
        ..PROGRAM
    }
}

/// A parser generator, which brings two runtimes of its own and a template engine.
pub(crate) fn antlr4() -> Program {
    Program {
        name: "ANTLR 4",
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
pub(crate) fn hsqldb() -> Program {
    Program {
        name: "HSQLDB",
        jars: &["hsqldb-2.7.2.jar", "sqltool-2.7.2.jar"],
        main_class: "org.hsqldb.cmdline.SqlTool",
        args: &["--inlineRc=url=jdbc:hsqldb:mem:orders,user=SA,password=", "{real}/hsqldb/orders.sql"],
        work: &["--inlineRc=url=jdbc:hsqldb:mem:orders,user=SA,password=", "{bench}/queries.sql"],
        ..PROGRAM
    }
}

/// A build with files, patterns and a digest.
pub(crate) fn ant() -> Program {
    Program {
        name: "Ant",
        jars: &["ant-1.10.14.jar", "ant-launcher-1.10.14.jar"],
        main_class: "org.apache.tools.ant.Main",
        args: &["-f", "{real}/ant/build.xml", "-Dbasedir=."],
        normalise: |out| out.lines().filter(|line| !line.starts_with("Total time:")).collect::<Vec<_>>().join("\n"),
        ..PROGRAM
    }
}

/// A scanner generator.
pub(crate) fn jflex() -> Program {
    Program {
        name: "JFlex",
        jars: &["jflex-1.9.1.jar", "java-cup-runtime-11b-20160615-1.jar"],
        main_class: "jflex.Main",
        args: &["-d", "out", "{real}/jflex/words.flex"],
        work: &["-q", "-d", "out", "{bench}/query.flex", "{bench}/query.flex"],
        ..PROGRAM
    }
}

/// A dynamic language on invokedynamic, which compiles the script to classes first.
pub(crate) fn groovy() -> Program {
    Program {
        name: "Groovy",
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
pub(crate) fn clojure() -> Program {
    Program {
        name: "Clojure",
        jars: &["clojure-1.11.1.jar", "spec.alpha-0.3.218.jar", "core.specs.alpha-0.2.62.jar"],
        main_class: "clojure.main",
        args: &["{real}/clojure/primes.clj"],
        work: &["{bench}/sieve.clj", "150"],
        ..PROGRAM
    }
}

/// JavaScript, compiled to classes.
pub(crate) fn rhino() -> Program {
    Program {
        name: "Rhino",
        jars: &["rhino-1.7.14.jar"],
        main_class: "org.mozilla.javascript.tools.shell.Main",
        args: &["-f", "{real}/rhino/shapes.js"],
        work: &["{bench}/work.js", "30"],
        ..PROGRAM
    }
}

/// An interpreter by reflection, whose class files are older than stack maps.
pub(crate) fn beanshell() -> Program {
    Program {
        name: "BeanShell",
        jars: &["bsh-2.0b4.jar"],
        main_class: "bsh.Interpreter",
        args: &["{real}/beanshell/queue.bsh"],
        ..PROGRAM
    }
}
