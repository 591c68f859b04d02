//! What has to hold of every run.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use hprof::read::Reader;
use trace::validate::Rule;

use super::acts::Act;
use super::attach::Recorded;
use super::case::Case;
use super::facts::Facts;
use super::jvm::Ended;
use bci_tests::jdwp;

/// How much of a file about a crash is shown.
const HEAD: usize = 60;

/// Something that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// What kind.
    pub(super) kind: Kind,
    /// A sentence, with what belongs to it.
    pub(super) text: String,
}

/// Kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// It did not end.
    Hang,
    /// The JVM crashed and left its report.
    Crash,
    /// The status is another one than without agent.
    Status,
    /// The program printed something else than without agent.
    Output,
    /// Somebody printed what nobody prints without agent.
    Words,
    /// The agent failed, or said something that it had no reason to say.
    Agent,
    /// The trace breaks a rule.
    Trace,
    /// The trace has other numbers than the program or the JVM.
    Numbers,
    /// A heap dump is missing or cannot be read.
    Dump,
}

fn problem(kind: Kind, text: impl Into<String>) -> Problem {
    Problem { kind, text: text.into() }
}

/// What the program prints and returns without agent.
#[derive(Clone, Debug)]
pub(super) struct Plain {
    /// How it ends.
    pub(super) status: ExitStatus,
    /// Its own lines.
    pub(super) lines: Vec<String>,
}

/// The lines of the program itself, and those of others.
pub(super) fn split(out: &str) -> (Vec<String>, Vec<String>) {
    let lines = out.lines().filter(|line| !line.is_empty()).map(str::to_owned);
    lines.partition(|line| line.starts_with("= "))
}

/// What the program and its JVM show: end, output, crash.
pub(super) fn visible(case: &Case, ended: &Ended, dir: &Path, plain: &Plain) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Some(stacks) = &ended.hung {
        let wall = ended.wall.as_secs();
        problems.push(problem(Kind::Hang, format!("it did not end within {wall} s; its threads:\n{stacks}")));
    }
    // A debugger that comes when the VM has died has its agent end the process, in one of twenty such runs without this one.
    let has_debugger = ended.acted.iter().any(|act| matches!(act, Act::Debugger(_)));
    if has_debugger && ended.err.contains("JDWP exit error JVMTI_ERROR_WRONG_PHASE") {
        return problems;
    }
    let report = fs::read_to_string(dir.join("hs_err.log")).ok();
    // Native code that calls Java when the JVM has been ended: HotSpot 22 and later give up.
    let is_late_call = |report: &String| report.contains("Could not attach thread for upcall");
    if ended.was_ended() && report.as_ref().is_some_and(is_late_call) {
        return problems;
    }
    if let Some(report) = report {
        let head: Vec<&str> = report.lines().take(HEAD).collect();
        problems.push(problem(Kind::Crash, format!("the JVM crashed:\n{}", head.join("\n"))));
    }
    let (own, others) = split(&ended.out);
    let ends: Vec<&Act> = ended.acted.iter().filter(|act| act.ends()).collect();
    let is_ended = ended.status.is_some_and(|status| ends.iter().any(|act| is_status_of(**act, status)));
    match ended.status {
        Some(status) if status != plain.status && !is_ended => {
            problems
                .push(problem(Kind::Status, format!("it ended with {status}, without agent with {}", plain.status)));
        }
        _ => {}
    }
    let is_same = if is_ended || ended.hung.is_some() { plain.lines.starts_with(&own) } else { own == plain.lines };
    if !is_same {
        problems.push(problem(Kind::Output, format!("it printed {own:?}, without agent {:?}", plain.lines)));
    }
    let is_deprecated = |line: &str| line.contains(" VM warning: Option ") && line.contains("deprecated");
    let is_dumped = ended.hung.is_some() || ended.acted.contains(&Act::Signal("QUIT"));
    let is_strange = |line: &&String| !is_dumped && !is_logged(line) && !is_of_full_heap(case, line);
    let of_out = others.iter().filter(is_strange).map(|line| (line, "standard output"));
    let err: Vec<String> = ended.err.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    // Whoever is ended may be about to say something, and gets further with the agent or without.
    let is_cut = |line: &str| is_ended && ["Exception in thread", "\tat "].iter().any(|start| line.starts_with(start));
    let is_told = |line: &str| is_deprecated(line) || is_of_full_heap(case, line) || is_cut(line);
    // Then nobody can say which code finds no room; hooks make code longer.
    let is_code_cache_full = err.iter().any(|line| line.contains("Out of space in CodeCache"));
    // The VM has no lines of a method that was redefined after an exception had passed it.
    let is_redefined = |line: &str| case.is_attached() && line.ends_with("(Unknown Source)");
    let is_others_fault = |line: &&String| !(line.starts_with("\tat ") && (is_code_cache_full || is_redefined(line)));
    let is_others = |line: &&String| !line.starts_with("martini:") && !is_told(line);
    let of_err = err.iter().filter(is_others).filter(is_others_fault).map(|line| (line, "standard error"));
    for (line, stream) in of_out.chain(of_err) {
        problems.push(problem(Kind::Words, format!("on {stream}: {line}")));
    }
    problems
}

/// Whether a process that was ended so has that status.
fn is_status_of(act: Act, status: ExitStatus) -> bool {
    match act {
        Act::Signal("KILL") => status.signal() == Some(9),
        Act::Signal("HUP") => status.code() == Some(128 + 1),
        Act::Signal("INT") => status.code() == Some(128 + 2),
        Act::Signal("TERM") => status.code() == Some(128 + 15),
        _ => false,
    }
}

/// Whether the JVM's log has this form, where `dump=oom` makes it write, as the documents say; or whether it waits for a debugger.
fn is_logged(line: &str) -> bool {
    line.starts_with('[') && line.contains("s][") || line.starts_with(jdwp::LISTENING)
}

/// Whether the JVM says that it found no room itself, which it does now and then if the program leaves none.
fn is_of_full_heap(case: &Case, line: &str) -> bool {
    let parts = [
        "OutOfMemoryError",
        "OUT_OF_MEMORY",
        "AttachListener::init",
        "transport error 202",
        "logging failed: Java heap",
    ];
    case.program.fills_heap && parts.iter().any(|part| line.contains(part))
}

/// Takes away what the same JVM shows without agent too; the rest stays.
pub(super) fn excuse(problems: &mut Vec<Problem>, without: &[Problem]) {
    let same =
        |a: &Problem, b: &Problem| a.kind == b.kind && (a.kind != Kind::Words || shape(&a.text) == shape(&b.text));
    problems.retain(|problem| !without.iter().any(|other| same(problem, other)));
}

/// A line without its numbers.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    for c in line.chars() {
        match c {
            _ if c.is_ascii_hexdigit() && shape.ends_with('#') => {}
            _ if c.is_ascii_digit() => shape.push('#'),
            _ => shape.push(c),
        }
    }
    shape
}

/// What only the agent leaves: its words, and traces and dumps of one recording or of several.
pub(super) fn agent(case: &Case, ended: &Ended, dir: &Path) -> Vec<Problem> {
    let recordings: Vec<Case> = match case.is_attached() {
        true => case.recordings.iter().map(|recording| case.with_mode(&recording.mode)).collect(),
        false => vec![case.clone()],
    };
    let mut problems = Vec::new();
    for line in ended.err.lines() {
        let is_expected = || is_of_full_heap(case, line) || recordings.iter().any(|case| is_expected(line, case));
        if line.starts_with("martini:") && !is_expected() || line.contains("panicked at") {
            problems.push(problem(Kind::Agent, line));
        }
    }
    if !case.is_attached() {
        recording(case, ended, dir, &mut problems);
    }
    for recorded in &ended.recorded {
        let case = case.with_mode(&recorded.drawn.mode);
        let known = problems.len();
        let has_trace = recorded.dir.join(case.mode.trace_name()).exists();
        if recorded.has_succeeded() || has_trace {
            recording(&case, ended, &recorded.dir, &mut problems);
        }
        if !recorded.has_succeeded() && !may_fail(&case, ended, recorded) {
            problems.push(problem(Kind::Agent, recorded.ending()));
        }
        for problem in &mut problems[known..] {
            problem.text = format!("{}: {}", recorded.dir.display(), problem.text);
        }
    }
    problems
}

/// Whether somebody who attaches can do nothing against it: the JVM has not begun, has ended meanwhile or is about to, is stopped, or has
/// no room for a request.
fn may_fail(case: &Case, ended: &Ended, recorded: &Recorded) -> bool {
    let is_late = !recorded.is_in_time || recorded.err.contains("the JVM is about to exit");
    // What could not be ended goes on.
    let words = ["is stopped, by SIGSTOP", "this JVM is already being recorded"];
    let is_stopped = ended.acted.contains(&Act::Stop) && words.iter().any(|words| recorded.err.contains(words));
    recorded.status.is_some() && (is_late || is_stopped || case.program.fills_heap)
}

/// The trace and the dumps of one recording, in a folder of its own.
fn recording(case: &Case, ended: &Ended, dir: &Path, problems: &mut Vec<Problem>) {
    let is_killed = ended.status.is_none_or(|status| status.signal() == Some(9));
    let trace = dir.join(case.mode.trace_name());
    match Facts::read(&trace) {
        Ok(facts) => judge(case, ended, &facts, is_killed, problems),
        // It was killed before it had written anything.
        Err(_) if is_killed && trace.metadata().is_ok_and(|trace| trace.len() == 0) => {}
        // A zip that nobody could finish has no directory.
        Err(_) if is_killed && case.mode.value("format") == Some("zip") => {}
        Err(error) => problems.push(problem(Kind::Trace, format!("the trace cannot be read: {error}"))),
    }
    dumps(case, ended, dir, is_killed, problems);
}

fn is_expected(line: &str, case: &Case) -> bool {
    case.mode.value("limit").is_some() && line.contains("has reached its limit of")
        || case.program.name == "deep" && line.contains("skipped the heap walk")
        || case.mode.leaves_the_jit_alone() && line.contains("-XX:-")
        || is_cut_by_end(case) && line.contains("gave up on a heap dump that makes no progress")
        || case.mode.is("dumpformat", "xml") && line.contains("the trace has not taken the previous one yet")
        || sees_no_death(case) && line.contains("object deaths are not recorded")
        || case.mode.value("cpu").is_some() && line.contains("the kernel checks CPU time only every")
        || case.mode.samples_threads()
            && (case.mode.is("internals", "off") || case.has_flag("-Xcheck:jni"))
            && line.contains("threads are not sampled: ")
        || case.mode.value("mark").is_some()
            && ["was never entered", "cannot mark "].iter().any(|words| line.contains(words))
        || case.mode.is("ttsp", "on")
            && ["delay safepoints", "which threads delay them"].iter().any(|words| line.contains(words))
        || case.mode.is("warmup", "on")
            && ["static initialisers", "counters of its start"].iter().any(|what| line.contains(what))
        || case.mode.value("request").is_some()
            && ["methods match request=", " matches no method ", "was ever called", "was never called"]
                .iter()
                .any(|words| line.contains(words))
        || ends_without_memory(case) && line.contains("the JVM ends before dump=oom is told")
        || would_keep_garbage(case) && line.contains(": with this JDK's ZGC it would keep garbage")
        || has_no_end(case, line)
}

/// Whether the JVM has ended while classes were rewritten, which takes longer from recording to recording before JDK-8078725.
fn has_no_end(case: &Case, err: &str) -> bool {
    case.jdk.feature < 17
        && case.is_attached()
        && err.contains("the JVM exited during a request; the trace may be incomplete")
}

/// Whether the agent is not told of a heap that is full: Epsilon sets `ExitOnOutOfMemoryError`, and safe mode does not look into the VM.
fn ends_without_memory(case: &Case) -> bool {
    case.gc.name == "epsilon" && case.mode.is("internals", "off") && case.mode.dumps_at("oom")
}

/// Whether a dump is refused while the program goes on, as the documents say.
fn would_keep_garbage(case: &Case) -> bool {
    case.jdk.feature < 17 && case.gc.name.starts_with("zgc") && case.mode.is("heap", "events")
}

/// Whether looking for dead objects would keep them, so that the agent does not look.
fn sees_no_death(case: &Case) -> bool {
    case.gc.name.starts_with("zgc") && case.mode.is("internals", "off") && case.has_flag("-Xcheck:jni")
}

/// Whether the VM may end while a dump waits for a collection, which then never comes: these collectors are stopped before agents hear of
/// the end. No further dump is made.
fn is_cut_by_end(case: &Case) -> bool {
    let stops_first = ["zgc", "shenandoah"].iter().any(|name| case.gc.name.starts_with(name));
    let ends_any_time = case.program.name == "halt" || case.is_attached();
    stops_first && ends_any_time && (case.mode.dumps_at("request") || case.mode.dumps_at("gc"))
}

fn judge(case: &Case, ended: &Ended, facts: &Facts, is_killed: bool, problems: &mut Vec<Problem>) {
    let may_have_no_end = is_killed || has_no_end(case, &ended.err);
    let broken = facts.report.broken.keys().any(|rule| !may_have_no_end || *rule != Rule::Ending);
    // What a zip holds back when the JVM is killed may end anywhere.
    let may_be_cut = is_killed && case.mode.value("format") == Some("zip");
    if broken || facts.cut > 0 && !may_be_cut {
        let described: Vec<String> = facts.report.violations.iter().map(ToString::to_string).collect();
        let text = format!("{} violations, {} bytes cut:\n{}", facts.report.total(), facts.cut, described.join("\n"));
        problems.push(problem(Kind::Trace, text));
    }
    for key in ["stackCache.mismatches", "agent.panics"] {
        if facts.sum(key) > 0 {
            problems.push(problem(Kind::Agent, format!("{key} is {}", facts.sum(key))));
        }
    }
    let lost = facts.sum("events.lost");
    // Each with the reason why it may be lost.
    let excused: u64 = [
        // A class may be unloaded before its sites are looked up.
        (true, "site not found"),
        // Where nothing collects, or the program halts, there may be no collection before the live objects are counted.
        (case.mode.value("live").is_some(), "collection before the histogram"),
        (sees_no_death(case), "deaths in a collection"),
        // Shenandoah's JVM leaves out classes that it is unloading, and not their objects.
        (case.gc.name.starts_with("shenandoah"), "heap dump: class of an object"),
        (is_cut_by_end(case) || would_keep_garbage(case) || case.mode.is("dumpformat", "xml"), "heap dump"),
        // No event reports a new class of arrays.
        (case.mode.is("dumpformat", "xml"), "heap dump: object of an unknown class"),
        // How long a stop took is known a while after it, and the thread may have ended meanwhile.
        (case.mode.is("ttsp", "on"), "late threads that have ended"),
    ]
    .iter()
    .filter(|(may_be_lost, _)| *may_be_lost)
    .filter_map(|(_, what)| facts.counts.get(&("events.lost".to_owned(), (*what).to_owned())))
    .sum();
    // Behind the limit nothing is looked up any more.
    let is_told = facts.has("limit.reached") || excused == lost;
    if lost > 0 && !case.program.may_lose && !is_told {
        let why: Vec<_> = facts.counts.iter().filter(|((key, _), _)| key == "events.lost").collect();
        problems.push(problem(Kind::Numbers, format!("events were lost: {why:?}")));
    }
    if is_killed {
        return;
    }
    // A recording of a part of the run has a part of the objects.
    if !case.is_attached() {
        known(case, ended, facts, lost, problems);
    }
    if !ended.was_ended() && !facts.has("limit.reached") {
        conserved(facts, problems);
    }
    // Of a thread that allocates while the VM goes down the two numbers are not of the same moment.
    if !ended.was_ended() && case.program.is_accounted && !case.is_attached() {
        coverage(case, facts, problems);
    }
}

/// What samples stand for is what each thread had of the processors, within one of them and a hundredth.
fn conserved(facts: &Facts, problems: &mut Vec<Problem>) {
    /// Between readings of the clock at the beginning and the end of a thread, in nanoseconds.
    const BETWEEN: u64 = 10_000_000;
    let interval = facts.sum("cpu.interval");
    for (thread, &(sampled, cpu)) in facts.cpu.iter().filter(|(_, (sampled, _))| *sampled > 0) {
        let cpu = cpu.unwrap_or(0);
        if sampled.abs_diff(cpu) > interval + BETWEEN + cpu / 100 && !facts.has("cpu.byProcess") {
            let text = format!("{thread:?} ran for {cpu} ns, of which its samples have {sampled}");
            problems.push(problem(Kind::Numbers, text));
        }
    }
}

/// The program knows how many objects of one class it made.
fn known(case: &Case, ended: &Ended, facts: &Facts, lost: u64, problems: &mut Vec<Problem>) {
    let printed = split(&ended.out).0.iter().find_map(|line| line.strip_prefix("= known ")?.parse::<u64>().ok());
    let Some(made) = printed else { return };
    let is_included = case.mode.value("include").is_none_or(|pattern| pattern == "torture.*");
    let seen = if case.mode.value("heap") == Some("counts") { facts.known_counted } else { facts.known_objects };
    let is_vm = (case.mode.value("heap") == Some("vm") || case.mode.leaves_the_jit_alone())
        && case.mode.value("exclude").is_none();
    // Who is ended goes on for a while when the agent's numbers are taken.
    let is_right = if ended.was_ended() {
        seen <= made
    } else if case.mode.counts_all() && is_included && !case.mode.leaves_the_jit_alone() {
        seen <= made && (made - seen <= lost || case.mode.is("heap", "events") && is_silent(case))
    } else if is_vm && is_included && case.mode.value("limit").is_none() {
        // What the JIT removes is not there; and before JDK 17 the VM's event has a hole.
        let may_miss = lost > 0 || !case.program.all_escape || case.jdk.feature < 17 || is_silent(case);
        seen <= made && (seen == made || may_miss)
    } else {
        true
    };
    if !is_right {
        let text = format!("the program made {made} objects of one class, the trace has {seen}; events lost: {lost}");
        problems.push(problem(Kind::Numbers, text));
    }
}

/// Without such buffers compiled code takes its room from the collector itself, and reports nothing.
fn is_silent(case: &Case) -> bool {
    case.has_flag("-XX:-UseTLAB") && case.jdk.feature < 19
}

/// With single objects the trace has what the JVM accounts, within what the documents say.
fn coverage(case: &Case, facts: &Facts, problems: &mut Vec<Problem>) {
    let is_silent = is_silent(case);
    let is_promised = match case.mode.value("heap") {
        Some("events") => !is_silent,
        Some("vm") => case.jdk.feature >= 17 && !is_silent,
        _ => false,
    };
    let is_unknown = ["coverage.unavailable", "coverage.filtered", "limit.reached"].iter().any(|key| facts.has(key));
    if !is_promised || is_unknown {
        return;
    }
    let accounted = facts.sum("coverage.accounted");
    let (missing, excess) = (facts.sum("coverage.missing"), facts.sum("coverage.excess"));
    let slack = accounted / if case.jdk.feature < 17 { 33 } else { 1_000 } + (128 << 10);
    if missing > slack || excess > slack {
        let text = format!("of {accounted} bytes that the JVM accounts {missing} are missing, {excess} are too many");
        problems.push(problem(Kind::Numbers, text));
    }
}

/// Each dump can be read to its end, and those that had to come are there.
fn dumps(case: &Case, ended: &Ended, dir: &Path, is_killed: bool, problems: &mut Vec<Problem>) {
    let files = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_dump = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.ends_with(".hprof") && name != "jcmd.hprof"
    };
    let files: Vec<PathBuf> = files.filter(is_dump).collect();
    for file in &files {
        if let Err(error) = read_dump(file) {
            problems.push(problem(Kind::Dump, format!("{} cannot be read: {error}", file.display())));
        }
    }
    let is_hprof = case.mode.value("dumpformat").is_none() && case.mode.value("limit").is_none();
    // Who was ended before its heap was full has none to dump, and a recording of a part of the run may not see that.
    let sees_full_heap = case.program.fills_heap && !ended.was_ended() && !case.is_attached();
    let is_refused = would_keep_garbage(case) && case.is_attached()
        || ended.err.contains("cannot dump the heap: the JVM has no memory left");
    let is_due = case.mode.dumps_at("end") && !is_refused || case.mode.dumps_at("oom") && sees_full_heap;
    if is_hprof && is_due && files.is_empty() && !is_killed && !is_cut_by_end(case) {
        problems.push(problem(Kind::Dump, "there is no heap dump"));
    }
}

fn read_dump(file: &Path) -> Result<(), String> {
    let file = File::open(file).map_err(|e| e.to_string())?;
    let mut reader = Reader::new(file).map_err(|e| e.to_string())?;
    while reader.next_record().map_err(|e| e.to_string())?.is_some() {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_own_lines_are_told_apart() {
        let (own, others) = split("\n= begins\n[0.1s][warning][gc] slow\n\n= known 5\n");
        assert_eq!(own, ["= begins", "= known 5"]);
        assert!(others.len() == 1 && is_logged(&others[0]));
    }

    #[test]
    fn what_the_jvm_does_by_itself_is_excused_and_nothing_else() {
        let words = |text: &str| problem(Kind::Words, text);
        let mut problems = vec![
            words("warning 17 at 0x7fa1"),
            words("another warning"),
            problem(Kind::Hang, "one"),
            problem(Kind::Crash, "one"),
        ];
        excuse(&mut problems, &[words("warning 3 at 0x15"), problem(Kind::Hang, "two")]);
        assert_eq!(problems, [words("another warning"), problem(Kind::Crash, "one")]);
    }

    #[test]
    fn a_signal_has_its_status() {
        assert!(is_status_of(Act::Signal("TERM"), ExitStatus::from_raw(143 << 8)));
        assert!(is_status_of(Act::Signal("KILL"), ExitStatus::from_raw(9)));
        assert!(!is_status_of(Act::Signal("QUIT"), ExitStatus::from_raw(131 << 8)));
    }
}
