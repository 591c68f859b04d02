//! `martini run` on a real JVM: the program is left as it was, and its trace is there.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::java::{compile, java, tool};
use crate::support::{end, end_with_input, martini, run, trace_json};

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

/// How many instances of a class were made.
fn instances(trace: &Path, class: &str) -> u64 {
    let shown = trace_json(&["stats", "--by", "class", "--filter", class, trace.to_str().unwrap()]);
    shown["tables"]["class"][0]["total"].as_u64().unwrap()
}

fn assert_valid(trace: &Path) {
    let ended = end(martini().arg("validate").arg(trace));
    assert_eq!(ended.status, 0, "{}{}", ended.out, ended.err);
}

#[test]
fn the_program_is_left_as_it_was() {
    let place = Place::with("Program", PROGRAM);
    let program = ["-cp", ".", "Program", "--file", "an argument"];
    let mut bare = Command::new(tool("java"));
    bare.args(program).current_dir(place.folder.path());
    let bare = end_with_input(&mut bare, b"some\ninput\n");
    let mut profiled = place.run(&[&["--quiet", &java()], &program[..]].concat());
    let profiled = end_with_input(&mut profiled, b"some\ninput\n");
    assert_eq!(
        (bare.status, bare.out.as_str(), bare.err.as_str()),
        (42, "some\ninput\n--file an argument\n", "done\n")
    );
    assert_eq!((profiled.status, profiled.out, profiled.err), (bare.status, bare.out, bare.err));
    let traces = place.traces();
    assert_eq!(traces.len(), 1);
    assert_valid(&traces[0]);
    assert_eq!(instances(&traces[0], "Program$Item"), 1000);
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
    let lines: Vec<&str> = ended.err.lines().skip_while(|line| !line.starts_with("martini: ")).collect();
    assert!(lines[0].starts_with(&format!("martini: {} (", file.display())), "{}", ended.err);
    assert!(lines[0].contains("): 1,001 objects ("), "{}", ended.err);
    assert!(lines[1].starts_with("nothing stands out: "), "{}", ended.err);
    assert_eq!((lines[2], lines[3].ends_with("  (no site)")), ("      size  share  where, in your code", true));
    let more = format!("More: martini explain '{0}', martini stats '{0}'", file.display());
    assert_eq!((lines.last(), lines.len()), (Some(&more.as_str()), 6), "{}", ended.err);
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
    assert!(ended.err.starts_with("martini: the agent is added to JAVA_TOOL_OPTIONS"), "{}", ended.err);
    assert!(ended.err.contains("Picked up JAVA_TOOL_OPTIONS: -Dexisting=yes -agentpath:"), "{}", ended.err);
    let traces = place.traces();
    assert_eq!(traces.len(), 2);
    for trace in traces {
        assert!(ended.err.contains(&format!("martini: {} (", trace.display())), "{}", ended.err);
        assert_valid(&trace);
        assert_eq!(instances(&trace, "Program$Item"), 1000);
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
    let sentence = "martini: sh may start several JVMs, and each needs its own trace; \
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
fn an_option_without_effect_is_noted_unless_quiet() {
    let place = Place { folder: tempfile::tempdir().unwrap() };
    let note = "martini: option 'stack' has no effect with heap=counts: write heap=events or heap=vm, or remove it\n";
    let ended = end(&mut place.run(&["--heap", "counts", "--stack", "4", "true"]));
    assert!(ended.status == 0 && ended.err.contains(note), "{}", ended.err);
    let ended = end(&mut place.run(&["-q", "--heap", "counts", "--stack", "4", "true"]));
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
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
        (&["./Program.class"], 126, "cannot start ./Program.class"),
        (&["--stack", "many", &java], 2, "option 'stack' does not take 'many'"),
        (&["--file", "no/such/folder/t.trcxml", &java], 2, "does not exist; create it"),
        (&["--filters", "no-such-file", &java], 2, "no-such-file"),
        (&["--include", "a*b", &java], 2, "a*b"),
    ] {
        let ended = end(&mut place.run(arguments));
        assert_eq!((ended.status, ended.out.as_str()), (status, ""), "{arguments:?}");
        assert!(ended.err.lines().any(|line| line.starts_with("martini: ") && line.contains(part)), "{}", ended.err);
    }
    // What is not there gets no agent.
    let ended = end(&mut place.run(&["no-such-program"]));
    assert!(ended.err.starts_with("martini: no-such-program was not found"), "{}", ended.err);
    let ended = end(&mut place.run(&["-cpu", &java]));
    assert!(ended.status == 2 && ended.err.contains("did you mean --cpu?"), "{}", ended.err);
    let ended = end(place.run(&[&java, "-version"]).env("MARTINI_AGENT", "/no/such/agent.so"));
    assert_eq!((ended.status, ended.out.as_str()), (2, ""));
    assert!(ended.err.starts_with("martini: MARTINI_AGENT is set to /no/such/agent.so"), "{}", ended.err);
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

#[test]
fn what_is_there_already_is_not_lost() {
    let place = Place::with("Program", PROGRAM);
    let java = java();
    let (kept, link) = (place.file("keep.txt"), place.file("link.trcxml"));
    std::fs::write(&kept, "to be kept").unwrap();
    std::os::unix::fs::symlink(&kept, &link).unwrap();
    for (option, file, part) in [
        ("--file", &kept, "keep.txt exists and is not a Martini trace; choose another --file"),
        ("--file", &link, "link.trcxml is a symbolic link, which is not followed; choose another --file"),
        ("--locklog", &kept, "keep.txt exists and is not a Martini lock log; choose another --locklog"),
        ("--locklog", &link, "link.trcxml is a symbolic link"),
    ] {
        let ended = end(&mut place.run(&[option, file.to_str().unwrap(), &java, "-cp", ".", "Program"]));
        assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{}", ended.err);
        assert!(ended.err.starts_with("martini: ") && ended.err.contains(part), "{}", ended.err);
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), "to be kept");
    }
    // A trace that somebody chose to write over, as before.
    for _ in 0..2 {
        assert_eq!(end(&mut place.run(&["--file", "t.trcxml", &java, "-cp", ".", "Program"])).status, 42);
        assert_valid(&place.file("t.trcxml"));
    }
}

#[test]
fn the_next_name_is_reported_if_the_first_is_taken() {
    let place = Place::with("Program", PROGRAM);
    let java = java();
    // The JVM has the id of the shell that becomes it.
    let script = format!("echo kept > martini-$$.trcxml; exec {java} -cp . Program");
    let ended = end(&mut place.run(&["sh", "-c", &script]));
    assert_eq!(ended.status, 42);
    let traces = place.traces();
    assert_eq!(traces.len(), 2);
    let (kept, new): (Vec<_>, Vec<_>) = traces.iter().partition(|file| std::fs::read(file).unwrap() == b"kept\n");
    assert!(kept.len() == 1 && new[0].to_str().unwrap().ends_with("-2.trcxml"), "{traces:?}");
    assert!(ended.err.contains(&format!("martini: {} (", new[0].display())), "{}", ended.err);
    assert!(!ended.err.contains("no trace was written"), "{}", ended.err);
    assert_valid(new[0]);
}

#[test]
fn a_run_within_a_run_takes_its_place() {
    let place = Place::with("Program", PROGRAM);
    let (java, martini) = (java(), env!("CARGO_BIN_EXE_martini"));
    for (number, inner) in [format!("{java} -cp . Program"), format!("env {java} -cp . Program")].iter().enumerate() {
        let file = place.file(&format!("inner{number}-%p.trcxml"));
        let launch = format!("{martini} run -q --file {} {inner}\n{java} -cp . Program\n", file.display());
        std::fs::write(place.file("launch"), launch).unwrap();
        let mut command = place.run(&["--file", &format!("outer{number}-%p.trcxml"), "sh", "launch"]);
        let ended = end(command.env("JAVA_TOOL_OPTIONS", "-Dexisting=yes"));
        assert_eq!((ended.status, ended.out.as_str()), (42, "\n\n"), "{}", ended.err);
        assert!(!ended.err.contains("not profiled") && !ended.err.contains("twice"), "{}", ended.err);
        assert_eq!(ended.err.matches("Picked up JAVA_TOOL_OPTIONS: -Dexisting=yes").count(), 2, "{}", ended.err);
    }
    let names: Vec<String> =
        place.traces().iter().map(|path| path.file_name().unwrap().to_string_lossy().into()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(["inner0-", "inner1-", "outer0-", "outer1-"].iter().zip(&names).all(|(part, name)| name.starts_with(part)));
}

/// The header of a program that needs musl.
fn executable(path: &Path) {
    const INTERPRETER: &[u8] = b"/lib/ld-musl-x86_64.so.1\0";
    const HEADER: usize = 64;
    const ENTRY: usize = 56;
    let mut file = vec![0; HEADER + ENTRY];
    file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    (file[18], file[32], file[54], file[56]) = (62, HEADER as u8, ENTRY as u8, 1);
    (file[HEADER], file[HEADER + 8]) = (3, (HEADER + ENTRY) as u8);
    file[HEADER + 32] = INTERPRETER.len() as u8;
    file.extend(INTERPRETER);
    std::fs::write(path, file).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path, mode).unwrap();
}

#[test]
fn a_program_that_cannot_load_the_agent_is_not_started() {
    let place = Place { folder: tempfile::tempdir().unwrap() };
    for name in ["java", "launcher"] {
        let file = place.file(name);
        executable(&file);
        let mut path = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect::<Vec<_>>();
        path.insert(0, place.folder.path().to_owned());
        let mut command = place.run(&[name, "-version"]);
        let ended = end(command.env("PATH", std::env::join_paths(path).unwrap()));
        assert_eq!((ended.status, ended.out.as_str()), (2, ""));
        let sentence = format!("martini: {} uses musl as its C library", file.display());
        assert!(ended.err.starts_with(&sentence) && ended.err.lines().count() == 1, "{}", ended.err);
    }
}

#[test]
fn switched_off_it_starts_the_program_and_nothing_else() {
    let place = Place::with("Program", PROGRAM);
    let java = java();
    for launcher in [&[java.as_str()][..], &["env", &java]] {
        let arguments = [&["-q", "--file", "/no/such/folder/t"], launcher, &["-cp", ".", "Program"]].concat();
        let ended = end(place.run(&arguments).env("MARTINI_OFF", "1"));
        assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (42, "\n", "done\n"));
    }
    let ended = end(place.run(&["--require-exact", "90", &java, "-version"]).env("MARTINI_OFF", "1"));
    assert_eq!(ended.status, 125);
    assert!(ended.err.starts_with("martini: the program is not profiled: MARTINI_OFF is set\n"), "{}", ended.err);
    assert!(place.traces().is_empty());
}

#[test]
fn a_file_behind_report_is_no_program() {
    let ended = run(&["run", "--report", "app.html", "java", "-version"]);
    assert_eq!(ended.status, 2, "{}", ended.err);
    assert!(
        ended.err.starts_with("martini: --report takes no file: ") && ended.err.contains("leave app.html out"),
        "{}",
        ended.err
    );
}
