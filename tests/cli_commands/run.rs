//! `martini run` on a real JVM: the program is left as it was, and its trace is there.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::java::{compile, tool};
use crate::support::{Ended, end, martini};

/// Makes 1,000 objects of a class of its own and keeps 400, copies stdin to stdout, and ends with status 42.
const PROGRAM: &str = "
    static final class Item { int number; }
    public static void main(String[] args) throws Exception {
        Item[] kept = new Item[400];
        for (int i = 0; i < 1000; i++) { kept[i % 400] = new Item(); }
        int c;
        while ((c = System.in.read()) >= 0) { System.out.write(c); }
        System.out.println(String.join(\" \", args));
        System.err.println(\"done\");
        System.exit(42);
    }";

/// Says that it is up, then allocates until somebody stops it.
const ENDLESS: &str = "
    public static void main(String[] args) throws Exception {
        System.out.println(\"up\");
        for (;;) { Object o = new int[10]; Thread.sleep(1); }
    }";

struct Place {
    folder: TempDir,
}

impl Place {
    fn with(name: &str, body: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        compile(folder.path(), name, body);
        Place { folder }
    }

    /// `martini run` in the folder; the JVM needs a path as its class path.
    fn run(&self, arguments: &[&str]) -> Command {
        let mut command = martini();
        command.current_dir(self.folder.path()).arg("run").args(arguments);
        command
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn traces(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut traces: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|extension| extension == "trcxml")).collect();
        traces.sort();
        traces
    }
}

fn java() -> String {
    tool("java").to_str().unwrap().to_owned()
}

/// Total and live instances of a class.
fn instances(trace: &Path, class: &str) -> (u64, u64) {
    let mut command = martini();
    let ended = end(command.args(["stats", "--json", "--by", "class", "--filter", class]).arg(trace));
    let json: Value = serde_json::from_str(&ended.out).unwrap();
    let row = &json["traces"][0]["tables"]["class"][0];
    (row["total"].as_u64().unwrap(), row["live"].as_u64().unwrap())
}

fn assert_valid(trace: &Path) {
    let ended = end(martini().arg("validate").arg(trace));
    assert_eq!(ended.status, 0, "{}{}", ended.out, ended.err);
}

fn with_input(mut command: Command, input: &str) -> Ended {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Ended {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn the_program_is_left_as_it_was() {
    let place = Place::with("Program", PROGRAM);
    let program = ["-cp", ".", "Program", "--file", "an argument"];
    let mut bare = Command::new(tool("java"));
    bare.args(program).current_dir(place.folder.path());
    let bare = with_input(bare, "some\ninput\n");
    let profiled = with_input(place.run(&[&["--quiet", &java()], &program[..]].concat()), "some\ninput\n");
    assert_eq!(
        (bare.status, bare.out.as_str(), bare.err.as_str()),
        (42, "some\ninput\n--file an argument\n", "done\n")
    );
    assert_eq!((profiled.status, profiled.out, profiled.err), (bare.status, bare.out, bare.err));
    let traces = place.traces();
    assert_eq!(traces.len(), 1);
    assert_valid(&traces[0]);
    assert_eq!(instances(&traces[0], "Program$Item").0, 1000);
}

#[test]
fn the_summary_shows_what_was_allocated_and_where_the_trace_is() {
    let place = Place::with("Program", PROGRAM);
    let file = place.file("a, b.trcxml");
    let arguments = [
        "--heap",
        "events",
        "--include",
        "Program$Item",
        "--file",
        file.to_str().unwrap(),
        &java(),
        "-cp",
        ".",
        "Program",
    ];
    let ended = end(&mut place.run(&arguments));
    assert_eq!(ended.status, 42);
    assert!(ended.err.contains(&format!("martini: {} (org.eclipse.tptp.jvmti", file.display())), "{}", ended.err);
    assert!(ended.err.contains("1,001 objects"), "{}", ended.err);
    assert!(
        ended.err.contains("\nLive at the end, by active size:\n") && ended.err.contains("  Program$Item\n"),
        "{}",
        ended.err
    );
    assert!(ended.err.contains(&format!("More: martini stats '{}'\n", file.display())), "{}", ended.err);
}

#[test]
fn other_launchers_get_the_agent_through_the_environment() {
    let place = Place::with("Program", PROGRAM);
    let script = place.file("launch");
    let java = java();
    std::fs::write(&script, format!("{java} -cp . Program one\n{java} -cp . Program two\nexit 7\n")).unwrap();
    let mut command = place.run(&["--include", "Program*", "sh", "launch"]);
    let ended = end(command.env("JAVA_TOOL_OPTIONS", "-Dexisting=yes"));
    assert_eq!((ended.status, ended.out.as_str()), (7, "one\ntwo\n"));
    assert!(ended.err.starts_with("martini: the agent is put into JAVA_TOOL_OPTIONS"), "{}", ended.err);
    assert!(ended.err.contains("Picked up JAVA_TOOL_OPTIONS: -Dexisting=yes -agentpath:"), "{}", ended.err);
    let traces = place.traces();
    assert_eq!(traces.len(), 2);
    for trace in traces {
        assert!(ended.err.contains(&format!("martini: {} (", trace.display())), "{}", ended.err);
        assert_valid(&trace);
        assert_eq!(instances(&trace, "Program$Item").0, 1000);
    }
}

#[test]
fn a_folder_with_blanks_and_quotes_reaches_the_jvm_whole() {
    let place = Place::with("Program", PROGRAM);
    let folder = place.file("it's \"mine\", really");
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("t-%p.trcxml");
    let java = java();
    for launcher in [&[java.as_str()][..], &["env", &java]] {
        let arguments = [&["-q", "--file", file.to_str().unwrap()], launcher, &["-cp", ".", "Program"]].concat();
        assert_eq!(end(&mut place.run(&arguments)).status, 42);
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
}

#[test]
fn one_file_for_several_jvms_is_refused() {
    let place = Place::with("Program", PROGRAM);
    let ended = end(&mut place.run(&["--file", "t.trcxml", "sh", "launch"]));
    assert_eq!((ended.status, ended.out.as_str()), (2, ""));
    let sentence = "martini: sh may start several JVMs, and each needs a trace of its own; \
                    put %p (the process id) into the name, as in --file t-%p.trcxml\n";
    assert_eq!(ended.err, sentence);
}

#[test]
fn a_program_without_a_jvm_leaves_no_trace_and_says_so() {
    let place = Place::with("Program", PROGRAM);
    let ended = end(&mut place.run(&["true"]));
    assert_eq!(ended.status, 0);
    assert!(ended.err.contains("no trace was written to "), "{}", ended.err);
}

#[test]
fn a_trace_can_go_through_a_pipe() {
    let place = Place::with("Program", PROGRAM);
    let pipe = place.file("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = martini()
        .args(["stats", "--json", "--by", "class", "--filter", "Program$Item"])
        .arg(&pipe)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let ended = end(&mut place.run(&["--file", "pipe", &java(), "-cp", ".", "Program"]));
    assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (42, "\n", "done\n"));
    let json: Value = serde_json::from_slice(&reader.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(json["traces"][0]["complete"], true);
    assert_eq!(json["traces"][0]["tables"]["class"][0]["total"], 1000);
}

#[test]
fn what_cannot_run_is_refused_before_anything_starts() {
    let place = Place::with("Program", PROGRAM);
    let java = java();
    for (arguments, status, part) in [
        (&["no-such-program"][..], 127, "no-such-program was not found"),
        (&["./Program.class"], 126, "./Program.class cannot be started"),
        (&["--stack", "many", &java], 2, "option 'stack' does not take 'many'"),
        (&["--file", "no/such/folder/t.trcxml", &java], 2, "there is no folder"),
        (&["--filters", "no-such-file", &java], 2, "no-such-file"),
        (&["--include", "a*b", &java], 2, "a*b"),
    ] {
        let ended = end(&mut place.run(arguments));
        assert_eq!((ended.status, ended.out.as_str()), (status, ""), "{arguments:?}");
        assert!(ended.err.lines().any(|line| line.starts_with("martini: ") && line.contains(part)), "{}", ended.err);
    }
    let ended = end(place.run(&[&java, "-version"]).env("MARTINI_AGENT", "/no/such/agent.so"));
    assert_eq!((ended.status, ended.out.as_str()), (2, ""));
    assert!(ended.err.starts_with("martini: MARTINI_AGENT names /no/such/agent.so"), "{}", ended.err);
}

/// Starts the endless program and waits until it runs; gives the child and the process id of the JVM.
fn start_endless(place: &Place) -> (Child, String) {
    let java = java();
    let mut command = place.run(&["--heap", "events", "--file", "t-%p.trcxml", &java, "-cp", ".", "Endless"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "up\n");
    let name = place.traces()[0].file_stem().unwrap().to_str().unwrap().to_owned();
    (child, name["t-".len()..].to_owned())
}

fn kill(signal: &str, pid: &str) {
    assert!(Command::new("kill").args([signal, pid]).status().unwrap().success());
}

#[test]
fn signals_reach_the_program_and_leave_a_valid_trace() {
    for (signal, status) in [("-TERM", 143), ("-INT", 130), ("-HUP", 129)] {
        let place = Place::with("Endless", ENDLESS);
        let (child, _) = start_endless(&place);
        kill(signal, &child.id().to_string());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{signal}: {err}");
        assert!(err.contains("allocated in"), "{signal}: {err}");
        assert_valid(&place.traces()[0]);
    }
}

#[test]
fn after_a_kill_the_summary_shows_what_was_written_until_then() {
    let place = Place::with("Endless", ENDLESS);
    let (child, jvm) = start_endless(&place);
    // The trace is written a little behind the program; wait for its head.
    while !std::fs::read_to_string(&place.traces()[0]).unwrap().contains("<objAlloc") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    kill("-KILL", &jvm);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(137));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("note: the trace was cut off, as when the JVM is killed"), "{err}");
    let text = std::fs::read_to_string(&place.traces()[0]).unwrap();
    assert!(text.ends_with("/>\n"), "{:?}", &text[text.len() - 100..]);
}
