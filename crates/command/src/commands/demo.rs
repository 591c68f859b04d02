//! `martini demo`: profiles a bundled program and explains its trace.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use owo_colors::OwoColorize;
use trace::file::{IfTaken, Kind, create};

use crate::commands::explain::Explained;
use crate::commands::report;
use crate::exit;
use crate::input::whole;
use crate::launch::injection::{self, Injected};
use crate::launch::options::AgentOptions;
use crate::launch::{jdk, library, program, supervise};
use crate::render::human::{self, bytes};
use crate::render::page::{Page, Width};

macro_rules! classes {
    ($($name:literal),+ $(,)?) => {
        [$((concat!("demo/", $name, ".class"), include_bytes!(concat!("../../java/classes/demo/", $name, ".class")))),+]
    };
}

/// The program: where each class lies in the class path, and its bytes.
const CLASSES: [(&str, &[u8]); 10] = classes![
    "Main",
    "Order",
    "OrderCache",
    "OrderCache$1",
    "OrderDesk",
    "OrderLine",
    "PriceFeed",
    "PriceWatch",
    "Report",
    "Report$Row",
];

/// Of an earlier demo in the same folder.
const CLASS: Kind = Kind { name: "class", is_begun_by: |head| head.starts_with(b"\xca\xfe\xba\xbe") };
const MAIN_CLASS: &str = "demo.Main";
/// Room for all that the program allocates between its own collections, so that the story is the same on any machine.
const HEAP: [&str; 2] = ["-Xmx256m", "-Xmn128m"];
/// Frames to record: enough to get from inside the JDK back to the program.
const STACK: &str = "16";
/// Profile a small bundled program and explain its trace
///
/// The program is an order desk: ten business days, three hundred orders a day. It looks healthy, but leaks a little memory with every order.
/// The trace shows which class leaks, and which is allocated needlessly.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini demo
  martini demo --java /usr/lib/jvm/temurin-25-jdk-amd64 --out demo-out")]
pub(crate) struct Arguments {
    /// JDK folder or java executable [default: JAVA_HOME, the PATH, or /usr/lib/jvm]
    #[arg(long, value_name = "PATH")]
    java: Option<PathBuf>,
    /// Folder for the program's classes and the trace [default: a new temporary folder]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let jdk = jdk::find(arguments.java.as_deref())?;
    let agent = library::find(program::platform(jdk.java.as_os_str()))?;
    let folder = folder(arguments.out.as_deref())?;
    let classes = folder.join("classes");
    unpack(&classes)?;
    let trace = folder.join("demo.trcxml");
    let Some(trace_name) = trace.to_str() else {
        bail!("the path {} is not UTF-8; use another --out", folder.display())
    };
    let options = AgentOptions::of(&[("heap", "events"), ("file", trace_name), ("stack", STACK)]).resolve()?;

    let mut out = anstream::stdout();
    writeln!(out, "{}", "The program: an order desk, ten days of 300 orders, three clerks.".bold())?;
    writeln!(out, "Running on {jdk} with the agent, recording every object.\n")?;
    out.flush()?;
    let heap = HEAP.iter().map(OsString::from);
    let java_arguments: Vec<OsString> = heap.chain(["-cp".into(), classes.into(), MAIN_CLASS.into()]).collect();
    let mut command = injection::command(
        jdk.java.as_os_str(),
        &java_arguments,
        &Injected { agent: &agent, options: &options.string, lines: false },
    );
    let status = supervise::run(&mut command, |_| ())?;
    if status != exit::OK {
        bail!("the program exited with status {} instead of 0; see its output above", status);
    }
    let whole = whole::whole(&trace)?;
    let mut out = out.lock();
    writeln!(out, "\n{}", "What the trace shows".bold())?;
    Explained::new(&trace, &whole, Vec::new()).write(&mut Page::new(&mut out, Width::usual()))?;
    writeln!(out, "\n{} {} ({})", "The trace:".bold(), trace.display(), bytes(whole.allocations.bytes))?;
    let report = report::write_beside(&trace)?;
    writeln!(out, "{} {} (open in a browser)", "The report:".bold(), report.display())?;
    writeln!(out, "{}", "Look closer:".bold())?;
    let word = human::shell_word(&trace);
    writeln!(out, "  martini stats {word}")?;
    writeln!(out, "  martini tree {word}")?;
    writeln!(out, "{}", "Your own program:".bold())?;
    writeln!(out, "  martini run java -jar your-app.jar                allocation sites, at low cost")?;
    writeln!(out, "  martini run --stack 16 java -jar your-app.jar     every object, as here")?;
    Ok(exit::OK)
}

fn folder(wanted: Option<&Path>) -> anyhow::Result<PathBuf> {
    match wanted {
        Some(folder) => {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
            Ok(std::path::absolute(folder)?)
        }
        // The user is going to look at the trace, so it stays.
        None => Ok(tempfile::Builder::new().prefix("martini-demo-").tempdir()?.keep()),
    }
}

fn unpack(classes: &Path) -> anyhow::Result<()> {
    for (name, contents) in CLASSES {
        let file = classes.join(name);
        let folder = file.parent().unwrap_or(classes);
        let cannot = || format!("cannot write {}", file.display());
        std::fs::create_dir_all(folder).with_context(cannot)?;
        let mut written = create(&file, CLASS, IfTaken::Replace)?.file;
        written.write_all(contents).with_context(cannot)?;
    }
    Ok(())
}
