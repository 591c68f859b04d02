//! What stands out in a trace: in sentences, and as JSON.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use analysis::allocations::Location;
use analysis::explain::{
    Busy, Churn, Contention, Dumped, Explanation, Finding, Growing, Growth, Lateness, LineWaits, Rising,
    SlowInitialiser, SlowRequest,
};
use analysis::locks::{CalledLock, Deadlock, Estimate, Longest, Place, Stuck, ThreadName};
use owo_colors::OwoColorize;
use serde_json::{Map, Value, json};
use trace::command_line::quoted;
use trace::names;
use trace::time::Nanos;

use crate::input::program::Program;
use crate::render::calls::method;
use crate::render::human::{self, bytes, count, counted, duration, percent, printable, shell_word};
use crate::render::locks::{longest_json, name, stuck_json};
use crate::render::page::Page;
use crate::render::thread_dump::{self, Words};
use crate::render::view::{self, location};
use crate::render::{explain_calls, explain_cpu, requests, safepoints};

/// The trace of a finding, for the commands that show more of it.
pub(crate) struct Source<'p> {
    /// The trace.
    pub(crate) path: &'p Path,
    /// The last heap dump that the same recording left beside it.
    pub(crate) dump: Option<PathBuf>,
    /// What that says of who holds the objects that leak, as a sentence.
    pub(crate) held: Option<String>,
    /// The trace has call stacks of what is allocated.
    pub(crate) has_stacks: bool,
    /// What it is a trace of.
    pub(crate) program: Program,
}

impl Source<'_> {
    /// The command that records the program with these options: while it runs by attaching, or once more; `None` if neither can be.
    fn recorded(&self, options: &[&str]) -> Option<Vec<String>> {
        let Program { running, is_recorded, command } = &self.program;
        let attach = running.filter(|_| *is_recorded).map(|pid| vec!["attach".to_owned(), pid.to_string()]);
        let options = options.iter().map(|&option| option.to_owned());
        match (attach, command) {
            (Some(attach), _) => Some(attach.into_iter().chain(options).chain(DURATION.map(str::to_owned)).collect()),
            (None, Some(command)) => {
                let run = std::iter::once("run".to_owned()).chain(options).chain(["--".to_owned()]);
                Some(run.chain(command.0.iter().map(|word| quoted(word))).collect())
            }
            (None, None) => None,
        }
    }
}

/// How long a command records that attaches.
const DURATION: [&str; 2] = ["--duration", "30s"];

/// Writes all findings, each with what it means and the command to type next.
pub(crate) fn write(explanation: &Explanation<'_>, source: &Source<'_>, out: &mut Page<'_>) -> io::Result<()> {
    if explanation.findings.is_empty() {
        writeln!(out)?;
        return out.write_sentence(0, &nothing(explanation));
    }
    for finding in &explanation.findings {
        writeln!(out)?;
        write_head(finding, out)?;
        for sentence in sentences(finding, explanation).iter().chain(held(finding, explanation, source)) {
            out.write_sentence(2, &printable(sentence))?;
        }
        let command = out.command("  next:", &next(finding, explanation, source, out.width().beside(NEXT)));
        writeln!(out, "  {}{command}", "next:".bold())?;
    }
    Ok(())
}

/// Writes each finding in a sentence; if there is none, that.
pub(crate) fn write_heads(explanation: &Explanation<'_>, out: &mut Page<'_>) -> io::Result<()> {
    if explanation.findings.is_empty() {
        return out.write_sentence(0, &nothing(explanation));
    }
    explanation.findings.iter().try_for_each(|finding| write_head(finding, out))
}

/// All findings in words; if there is none, that.
pub(crate) fn described(explanation: &Explanation<'_>, source: &Source<'_>) -> Value {
    if explanation.findings.is_empty() {
        return json!([{ "kind": "nothing", "head": nothing(explanation), "sentences": [] }]);
    }
    let describe = |finding: &Finding<'_>| {
        let (label, text) = head(finding);
        let sentences = sentences(finding, explanation);
        let sentences = sentences.iter().chain(held(finding, explanation, source)).map(|text| printable(text));
        let sentences: Vec<String> = sentences.collect();
        let search = match finding {
            Finding::Churn(churn) => Some(method(&churn.at)),
            Finding::Growth(Growth { at: Some(at), .. }) => Some(method(at)),
            Finding::Calls(found) => Some(method(&found.at)),
            Finding::Cpu(found) => match &found.what {
                Busy::Line(at) => Some(method(at)),
                _ => None,
            },
            // A lock with a name has its class without the package behind it.
            Finding::Contention(Contention { single: Some(lock), .. }) => Some(lock.to_string()),
            Finding::Contention(Contention { class, .. }) => {
                class.map(|class| class.rsplit('.').next().unwrap_or(class).to_owned())
            }
            _ => None,
        };
        json!({
            "kind": label.trim_end_matches(':'),
            "head": printable(&text),
            "sentences": sentences,
            "next": next(finding, explanation, source, usize::MAX).join(" "),
            "search": search,
        })
    };
    explanation.findings.iter().map(describe).collect()
}

/// Who holds the objects of the first leak.
fn held<'s>(finding: &Finding<'_>, explanation: &Explanation<'_>, source: &'s Source<'_>) -> Option<&'s String> {
    let is_leak = |finding: &&Finding<'_>| matches!(finding, Finding::Growth(_));
    let first = explanation.findings.iter().find(is_leak)?;
    source.held.as_ref().filter(|_| std::ptr::eq(first, finding))
}

fn write_head(finding: &Finding<'_>, out: &mut Page<'_>) -> io::Result<()> {
    let (label, head) = head(finding);
    let head = out.behind(label, &printable(&head));
    writeln!(out, "{}{head}", label.bold())
}

/// Says that nothing stands out, and what was looked at.
fn nothing(explanation: &Explanation<'_>) -> String {
    let mut looked_at = Vec::new();
    match (explanation.allocated, explanation.rate()) {
        (Some(allocated), None) => looked_at.push(format!("{} allocated", bytes(allocated))),
        (_, Some(rate)) => looked_at.push(format!("{}/s allocated", bytes(rate))),
        (None, None) => {}
    }
    if let Some(share) = explanation.pause_share() {
        looked_at.push(format!("collections took {} of the time", human::share(share)));
    }
    if let Some(time) = explanation.on_processors {
        looked_at.push(format!("{} of CPU time", duration(time)));
    }
    if let Some((calls, base)) = explanation.calls {
        looked_at.push(format!("{} with a base time of {}", counted(calls, "call", "calls"), duration(base)));
    }
    match explanation.contended {
        Some(most) => looked_at.push(format!("threads waited {} for the most contended lock", duration(most))),
        None if explanation.has_waits => looked_at.push("no lock was contended".to_owned()),
        None => {}
    }
    if explanation.wall_samples > 0 {
        looked_at.push(counted(explanation.wall_samples, "wall clock sample", "wall clock samples"));
    }
    if let Some(sync) = explanation.to_safepoint {
        looked_at.push(format!("{} to reach safepoints", duration(sync)));
    }
    if explanation.has_start {
        looked_at.push("no static initialiser took long".to_owned());
    }
    if explanation.has_requests {
        looked_at.push("no first request took long".to_owned());
    }
    if looked_at.is_empty() {
        return "nothing stands out: the trace has no allocations, waits or samples".to_owned();
    }
    let filters = if explanation.is_filtered { "; filters exclude classes from the trace" } else { "" };
    let ages = if explanation.has_few_ages { "; too few collections to detect growth" } else { "" };
    format!("nothing stands out: {}{filters}{ages}", looked_at.join(", "))
}

/// A label, and what stands behind it.
fn head(finding: &Finding<'_>) -> (&'static str, String) {
    match finding {
        Finding::Deadlock(deadlock) => {
            ("deadlock:", format!("{} have waited for each other for {}", threads(deadlock), duration(deadlock.length)))
        }
        Finding::DumpedDeadlock(_) | Finding::HeldUp(_) | Finding::Queued(_) => {
            let Words { label, head, .. } = dumped(finding);
            (label, head)
        }
        Finding::Stuck(blocked) => {
            let waited = counted(blocked.threads, "thread was", "threads were");
            let longest = duration(blocked.longest.length);
            ("stuck:", format!("{waited} still waiting for a lock at the end, the longest for {longest}"))
        }
        Finding::Growth(Growth { at, bytes: live, share, .. }) => {
            let at = at.map_or(String::new(), |at| format!(" at {at}"));
            ("growth:", format!("{} ({} of what survived a collection){at}", bytes(*live), human::share(*share)))
        }
        Finding::Rise(Rising { rise, .. }) => {
            ("growth:", format!("heap in use after collections rose from {} to {}", bytes(rise.from), bytes(rise.to)))
        }
        Finding::Churn(Churn { at, bytes: churned, is_collected, executed, share, error, .. }) => {
            // The share has the same error as its bytes, which are not 0.
            let error = error
                .map_or(String::new(), |error| format!(" ± {}", human::share(share * error as f64 / *churned as f64)));
            let churned = bytes(*churned);
            let executed = executed.map(bytes).filter(|executed| *executed != churned);
            let executed = executed.map_or(String::new(), |all| format!(", {all} including what the JIT removed,"));
            let collected = if *is_collected { " collected" } else { "" };
            ("churn:", format!("{churned}{collected} ({}{error} of all){executed} at {at}", human::share(*share)))
        }
        Finding::Cpu(found) => ("cpu:", explain_cpu::head(found)),
        Finding::Calls(found) => ("calls:", explain_calls::head(found)),
        Finding::Contention(contention @ Contention { waited, estimate, share, .. }) => {
            let (lock, waited) = (called(contention), duration(waited.total));
            let waited = match estimate {
                Some(estimate) => format!("about {waited} ± {}", duration(estimate.error)),
                None => waited,
            };
            // Several may wait at the same time.
            let share = match *share {
                share if share < 1.0 => format!("{} of the time", human::share(share)),
                threads => format!("on average {threads:.1} threads"),
            };
            let owner = contention.owners.first().filter(|_| !is_hardly_known(contention));
            let owner =
                owner.map_or(String::new(), |owner| format!(", while its owner was at {}", called_at(&owner.place)));
            ("lock:", format!("threads waited {waited} ({share}) for {lock}{owner}"))
        }
        Finding::Lateness(Lateness { sync, share, worst, .. }) => {
            let most = worst.as_ref().map_or(String::new(), |worst| {
                format!(", {} of it for {}", percent(worst.time.0, sync.0), worst.subject)
            });
            let share = human::share(*share);
            ("late:", format!("threads waited {} ({share} of the time) to reach safepoints{most}", duration(*sync)))
        }
        Finding::FailedLookups(row) => {
            let by = row.caused_by.map_or(String::new(), |at| format!(", caused by {at}"));
            ("start:", format!("{} look-ups of classes failed{by}", count(row.count)))
        }
        Finding::Request(SlowRequest { row, median, .. }) => {
            let times = count(row.took.0 / median.0.max(1));
            ("request:", format!("{} took {times} times the median: {}", requests::called(row), requests::why(row)))
        }
        Finding::Initialiser(SlowInitialiser { row, .. }) => {
            let by = row.caused_by.map_or(String::new(), |at| format!(", caused by {at}"));
            let ran = if row.runs_on { "has run" } else { "ran" };
            ("start:", format!("the static initialiser of {} {ran} for {}{by}", row.class, duration(row.total)))
        }
    }
}

/// A finding of thread dumps in words; of others there are none.
fn dumped(finding: &Finding<'_>) -> Words {
    match finding {
        Finding::DumpedDeadlock(Dumped { what, seen }) => thread_dump::deadlock(what, *seen),
        Finding::HeldUp(Dumped { what, seen }) => thread_dump::held_up(what, *seen),
        Finding::Queued(Dumped { what, seen }) => thread_dump::queued(what, *seen),
        _ => Words { label: "", head: String::new(), sentences: Vec::new() },
    }
}

/// What a lock is called, or what many have in common.
fn called(contention: &Contention<'_>) -> String {
    let class = contention.class.unwrap_or("(unknown class)");
    match (contention.single, contention.waiters.first()) {
        (Some(lock), _) if lock.name.is_some() => lock.to_string(),
        (Some(_), Some(LineWaits { place: Place { at, .. }, .. })) => {
            format!("{class} locked in {}.{}", at.class, names::jvm_method_name(at.method))
        }
        _ => class.to_owned(),
    }
}

/// A line, and what it calls.
fn called_at(place: &Place<'_>) -> String {
    let calls = place.calls.map(|at| format!(" in {}.{}", at.class, names::jvm_method_name(at.method)));
    format!("{}{}", place.at, calls.unwrap_or_default())
}

fn threads(deadlock: &Deadlock<'_>) -> String {
    let names: Vec<String> = deadlock.members.iter().map(|member| member.thread.to_string()).collect();
    names.join(" and ")
}

/// A lock that several readers hold at once.
const SHARED_LOCK: &str = "java.util.concurrent.locks.ReentrantReadWriteLock";

/// What a finding means.
fn sentences(finding: &Finding<'_>, explanation: &Explanation<'_>) -> Vec<String> {
    match finding {
        Finding::Deadlock(deadlock) => deadlock.members.iter().map(waits).collect(),
        Finding::DumpedDeadlock(_) | Finding::HeldUp(_) | Finding::Queued(_) => dumped(finding).sentences,
        Finding::Stuck(blocked) => vec![waits(&blocked.longest)],
        Finding::Growth(growth) => growth_sentences(growth),
        Finding::Rise(rising) => {
            let collections = count(rising.rise.collections);
            let mut sentences = vec![format!(
                "minimum heap use after a collection rose in each third of {collections} collections: a leak, or a cache that \
                 is still filling"
            )];
            if !rising.live.is_empty() {
                let live = rising.live.iter().map(|(class, size)| format!("{} of {class}", bytes(*size)));
                sentences.push(format!("alive at the end: {}", live.collect::<Vec<_>>().join(", ")));
            }
            sentences
        }
        Finding::Churn(churn) => churn_sentences(churn, explanation),
        Finding::Calls(found) => explain_calls::sentences(found),
        Finding::Cpu(found) => explain_cpu::sentences(found),
        Finding::Contention(contention) => contention_sentences(contention),
        Finding::Lateness(Lateness { stops, longest, .. }) => vec![format!(
            "{} took 1 ms or more to reach, the longest {}",
            counted(*stops, "safepoint", "safepoints"),
            duration(*longest)
        )],
        Finding::FailedLookups(row) => vec![format!(
            "each made a ClassNotFoundException in {}; ask once and remember the answer, or ask the right class loader",
            row.loader
        )],
        Finding::Request(SlowRequest { row, median, .. }) => vec![format!(
            "half of all took {} at most; it began {} after the recording did",
            duration(*median),
            duration(row.begun)
        )],
        Finding::Initialiser(SlowInitialiser { row, request, .. }) => vec![format!(
            "{} of it without other initialisers; {}{}it began {} after the recording did",
            duration(row.own),
            request.map_or(String::new(), |(entry, number)| format!("in request {} of {entry}; ", count(number))),
            row.thread.map_or(String::new(), |thread| format!("on thread {thread}; ")),
            duration(row.begun)
        )],
    }
}

fn waits(stuck: &Stuck<'_>) -> String {
    let at = stuck.stack.first().map_or(String::new(), |at| format!(" at {at}"));
    let class = stuck.class.map_or(String::new(), |class| format!(" for {class}"));
    let owner = stuck.owner.as_ref().map_or(String::new(), |(owner, _)| format!(", owned by {owner}"));
    let owner_at = stuck.owner_stack.first().map_or(String::new(), |at| format!(" at {at}"));
    format!("{} waits{at}{class}{owner}{owner_at}", stuck.thread)
}

fn growth_sentences(growth: &Growth<'_>) -> Vec<String> {
    /// More are parts of these.
    const CLASSES: usize = 3;
    let ages = growth.classes.iter().map(|class| class.generations).max().unwrap_or(0);
    let of_class = |class: &Growing<'_>| {
        let error = if class.samples > 0 { format!(" ± {}", bytes(class.error)) } else { String::new() };
        // What samples stand for may be more than there was.
        let live = match class.samples {
            0 => count(class.live),
            _ if class.live >= class.total => "about all".to_owned(),
            _ => format!("about {}", count(class.live)),
        };
        format!("{live} of {} {} ({}{error})", count(class.total), class.class, bytes(class.bytes))
    };
    let classes: Vec<String> = growth.classes.iter().take(CLASSES).map(of_class).collect();
    let samples: u64 = growth.classes.iter().map(|class| class.samples).sum();
    let oldest = growth.classes.iter().map(|class| class.oldest).max().unwrap_or(0);
    let known = match samples {
        0 => format!("survivors of {} different ages: allocated steadily, never released", count(ages)),
        _ => format!(
            "estimated from {}: survivors of {} different ages, the oldest alive after {}: allocated steadily, never released",
            counted(samples, "sample", "samples"),
            count(ages),
            counted(oldest.into(), "collection", "collections"),
        ),
    };
    vec![format!("alive: {}", classes.join(", ")), known]
}

fn churn_sentences(churn: &Churn<'_>, explanation: &Explanation<'_>) -> Vec<String> {
    let rate = churn.rate.map_or(String::new(), |rate| format!("{}/s, ", bytes(rate)));
    let by = |at: Option<Location<'_>>| match at {
        Some(at) if at != churn.at => format!(" by {}.{}", at.class, names::jvm_method_name(at.method)),
        _ => String::new(),
    };
    let inside = churn
        .inside
        .map_or(String::new(), |inside| format!("; mainly {}{}", inside.class, by(churn.called.or(inside.at))));
    let mut sentences = vec![format!("{rate}most of it dies young{inside}")];
    if let (Some((collections, pauses)), Some(share)) = (explanation.collections, explanation.pause_share()) {
        let collections = counted(collections, "collection", "collections");
        sentences.push(format!("{collections} took {}, {} of the time", duration(pauses), human::share(share)));
    }
    sentences
}

fn contention_sentences(contention: &Contention<'_>) -> Vec<String> {
    let Contention { class, locks, waited, estimate, waiters, owners, owner, longest, .. } = contention;
    let total = waited.total;
    let locks = counted(*locks, "lock", "locks");
    let waits = counted(waited.waits, "wait", "waits");
    let mut sentences = vec![match estimate {
        Some(Estimate { looks, .. }) => {
            format!(
                "estimated: {} saw {waits} for {locks}",
                counted(*looks, "look at parked threads", "looks at parked threads")
            )
        }
        None => format!("{waits} for {locks}"),
    }];
    // Readers and writers of a lock wait in different calls.
    let is_shared = class.is_some_and(|class| class.starts_with(SHARED_LOCK));
    for LineWaits { place, waited } in waiters.iter().take(if is_shared { 2 } else { 1 }) {
        let at = if is_shared { called_at(place) } else { place.at.to_string() };
        sentences.push(format!("waiting at {at} ({})", percent(waited.total.0, total.0)));
    }
    if let Some((thread, held)) = owner {
        sentences.push(format!("owned by {thread} ({})", percent(held.0, total.0)));
    }
    match owners.first() {
        Some(_) if is_hardly_known(contention) => {
            let known = counted(contention.with_owners_place().waits, "wait", "waits");
            sentences.push(format!("owner stacks are known for only {known}: too few to locate the owner"));
        }
        // The head has it.
        Some(LineWaits { waited: held, .. }) if held == waited => {}
        Some(LineWaits { place, waited: held }) => {
            let known = contention.with_owners_place();
            let of_what = match known.waits == waited.waits {
                true => String::new(),
                false => {
                    format!(" of the {} with owner stacks", counted(known.waits, "wait", "waits"))
                }
            };
            let share = percent(held.total.0, known.total.0);
            sentences.push(format!("owner at {} ({share}{of_what})", called_at(place)));
        }
        None if is_shared && owner.is_none() => {
            sentences.push("readers held it, whom the JVM does not name".to_owned());
        }
        None => sentences.push("the trace has no owner stacks".to_owned()),
    }
    sentences.extend(longest.as_ref().map(longest_wait));
    sentences
}

/// The longest wait, with both stacks.
fn longest_wait(longest: &Longest<'_>) -> String {
    let owner =
        longest.owner.map_or(String::new(), |owner| format!("; {owner} owned it{}", stack(&longest.owner_stack)));
    format!("longest wait {}: {}{}{owner}", duration(longest.length), longest.waiter, stack(&longest.stack))
}

/// A call stack in a sentence, innermost first.
fn stack(frames: &[Location<'_>]) -> String {
    /// More do not fit a sentence; `martini locks --stacks` has them.
    const FRAMES: usize = 6;
    let mut text: Vec<String> = frames.iter().take(FRAMES).map(|at| at.to_string()).collect();
    if frames.len() > FRAMES {
        text.push("...".to_owned());
    }
    if text.is_empty() { String::new() } else { format!(" at {}", text.join(" < ")) }
}

/// Whether the owner's place is known of so few waits that they say nothing of the rest.
fn is_hardly_known(contention: &Contention<'_>) -> bool {
    const ONE_IN: u64 = 50;
    contention.with_owners_place().waits.saturating_mul(ONE_IN) < contention.waited.waits
}

/// Columns beside a word of a command in a line of its own.
const NEXT: usize = 10;

/// The command that shows more, in words of a shell's command line; names of code take no more than `room`.
fn next(finding: &Finding<'_>, explanation: &Explanation<'_>, source: &Source<'_>, room: usize) -> Vec<String> {
    let trace = shell_word(source.path);
    let words = |words: &[&str]| ["martini"].iter().chain(words).map(|&word| word.to_owned()).collect();
    match finding {
        Finding::Deadlock(_) | Finding::Stuck(_) => words(&["locks", &trace]),
        Finding::DumpedDeadlock(_) | Finding::HeldUp(_) | Finding::Queued(_) => words(&["threads", &trace]),
        Finding::Growth(_) | Finding::Rise(_) if source.dump.is_some() => {
            let dump = source.dump.as_deref().map(shell_word).unwrap_or_default();
            words(&["heap", &dump, "--show", "suspects"])
        }
        Finding::Growth(growth) if growth.classes.iter().any(|class| class.samples > 0) => {
            let method =
                growth.at.map(|at| fitted(&format!("{}.{}", at.class, names::jvm_method_name(at.method)), room));
            let code = method.iter().flat_map(|method| ["--in", method]).collect::<Vec<_>>();
            words(&[&["tree", &trace, "--live"], &code[..]].concat())
        }
        Finding::Growth(_) | Finding::Rise(_) if source.program.running.is_some() => {
            let pid = source.program.running.map_or(String::new(), |pid| pid.to_string());
            words(&["dump", &pid])
        }
        Finding::Growth(_) | Finding::Rise(_) => {
            // Late, when much has piled up, but in a run that has a collection less, too.
            let collections = explanation.collections.map_or(0, |(count, _)| count).saturating_sub(1).max(1);
            let again = source.recorded(&["--stack", "16", "--dump", &format!("gc:{collections}")]);
            again.map_or_else(|| words(&["stats", &trace, "--by", "site"]), with_martini)
        }
        Finding::Churn(churn) if !churn.is_own && !source.has_stacks => {
            let again = source.recorded(&["--sampled"]);
            again.map_or_else(|| words(&["stats", &trace, "--by", "site"]), with_martini)
        }
        Finding::Churn(churn) => {
            let method = format!("{}.{}", churn.at.class, names::jvm_method_name(churn.at.method));
            let method = fitted(&method, room);
            let view: &[&str] = if source.has_stacks { &["tree", &trace] } else { &["stats", &trace, "--by", "site"] };
            words(&[view, &["--in", &method]].concat())
        }
        Finding::Calls(found) => words(&["tree", &trace, "--calls", "--in", &fitted(&method(&found.at), room)]),
        Finding::Lateness(_) => words(&["safepoints", &trace, "--stacks"]),
        Finding::Request(SlowRequest { row, .. }) => requests::next(source.path, row),
        Finding::Initialiser(_) | Finding::FailedLookups(_) => words(&["warmup", &trace, "--stacks"]),
        Finding::Cpu(found) => match found.what {
            Busy::Line(at) => {
                let method = fitted(&format!("{}.{}", at.class, names::jvm_method_name(at.method)), room);
                words(&["tree", &trace, "--cpu", "--in", &method])
            }
            Busy::Kernel => words(&["tree", &trace, "--cpu", "--bottom-up"]),
            Busy::Collector if source.has_stacks => words(&["tree", &trace]),
            Busy::Collector => {
                let again = source.recorded(&["--sampled"]);
                again.map_or_else(|| words(&["stats", &trace, "--cpu", "--by", "kind"]), with_martini)
            }
            Busy::Compiler | Busy::Lost => words(&["stats", &trace, "--cpu", "--by", "kind"]),
        },
        Finding::Contention(Contention { class, single, .. }) => {
            let lock = match single {
                Some(CalledLock { name: Some(name), .. }) => Some(fitted(&name.to_string(), room)),
                Some(CalledLock { object, .. }) => Some(format!("@{object}")),
                None => class.map(|class| fitted(class, room)),
            };
            let filter = lock.iter().flat_map(|lock| ["--filter", lock]).collect::<Vec<_>>();
            words(&[&["locks", &trace, "--stacks"], &filter[..]].concat())
        }
    }
}

fn with_martini(words: Vec<String>) -> Vec<String> {
    std::iter::once("martini".to_owned()).chain(words).collect()
}

/// A name of code as a word of a shell's command line; without its packages where it is too long, as the pattern that it is then.
fn fitted(name: &str, room: usize) -> String {
    let name = printable(name);
    let is_long = name.chars().count() > room;
    let packages = name.find(|c: char| c.is_uppercase()).filter(|_| is_long).unwrap_or(0);
    let short = if packages > 0 { format!("*.{}", &name[packages..]) } else { name };
    shell_word(Path::new(&short))
}

/// What stands out, with exact numbers.
pub(crate) fn json(explanation: &Explanation<'_>, source: &Source<'_>) -> Map<String, Value> {
    let findings: Vec<Value> = explanation
        .findings
        .iter()
        .map(|finding| {
            let mut fields = fields(finding);
            fields["cost"] = explanation.cost(finding).into();
            fields["next"] = next(finding, explanation, source, usize::MAX).join(" ").into();
            fields
        })
        .collect();
    let looked_at = json!({
        "length_nanos": explanation.length.0,
        "allocated_bytes": explanation.allocated,
        "cpu_nanos": explanation.on_processors.map(|time| time.0),
        "collections": explanation.collections.map(|(count, _)| count),
        "pause_nanos": explanation.collections.map(|(_, pauses)| pauses.0),
        "most_contended_nanos": explanation.contended.map(|most| most.0),
        "sync_nanos": explanation.to_safepoint.map(|sync| sync.0),
    });
    view::fields(json!({ "findings": findings, "looked_at": looked_at }))
}

fn fields(finding: &Finding<'_>) -> Value {
    let place = |waits: &LineWaits<'_>| {
        json!({
            "at": location(&waits.place.at),
            "calls": waits.place.calls.as_ref().map(location),
            "nanos": waits.waited.total.0,
            "waits": waits.waited.waits,
        })
    };
    match finding {
        Finding::Deadlock(deadlock) => json!({
            "kind": "deadlock",
            "nanos": deadlock.length.0,
            "threads": deadlock.members.iter().map(stuck_json).collect::<Vec<_>>(),
        }),
        Finding::DumpedDeadlock(Dumped { what, seen }) => since(thread_dump::deadlock_json(what), "deadlock", *seen),
        Finding::HeldUp(Dumped { what, seen }) => since(thread_dump::held_up_json(what), "stuck", *seen),
        Finding::Queued(Dumped { what, seen }) => since(thread_dump::queued_json(what), "stuck", *seen),
        Finding::Stuck(blocked) => json!({
            "kind": "stuck",
            "threads": blocked.threads,
            "longest": stuck_json(&blocked.longest),
        }),
        Finding::Growth(growth) => json!({
            "kind": "growth",
            "at": growth.at.as_ref().map(location),
            "survived_bytes": growth.bytes,
            "share": growth.share,
            "classes": growth.classes.iter().map(growing).collect::<Vec<_>>(),
        }),
        Finding::Rise(Rising { rise, live }) => json!({
            "kind": "rise",
            "from_bytes": rise.from,
            "to_bytes": rise.to,
            "collections": rise.collections,
            "live": live.iter().map(|(class, size)| json!({ "class": class, "bytes": size })).collect::<Vec<_>>(),
        }),
        Finding::Churn(churn) => json!({
            "kind": "churn",
            "at": location(&churn.at),
            "bytes": churn.bytes,
            "executed_bytes": churn.executed,
            "error_bytes": churn.error,
            "share": churn.share,
            "bytes_per_second": churn.rate,
            "class": churn.inside.map(|inside| inside.class),
            "allocated_by": churn.inside.and_then(|inside| inside.at).as_ref().map(location),
            "called": churn.called.as_ref().map(location),
        }),
        Finding::Cpu(found) => explain_cpu::json(found),
        Finding::Calls(found) => explain_calls::json(found),
        Finding::Contention(contention) => json!({
            "kind": "lock",
            "class": contention.class,
            "locks": contention.locks,
            "name": contention.single.and_then(|lock| lock.name).map(|name| name.to_string()),
            "object": contention.single.map(|lock| lock.object.0),
            "waits": contention.waited.waits,
            "nanos": contention.waited.total.0,
            "error_nanos": contention.estimate.map(|estimate| estimate.error.0),
            "looks": contention.estimate.map(|estimate| estimate.looks),
            "share": contention.share,
            "waiters": contention.waiters.iter().map(place).collect::<Vec<_>>(),
            "owners": contention.owners.iter().map(place).collect::<Vec<_>>(),
            "owner": contention.owner.as_ref().map(owner),
            "longest": contention.longest.as_ref().map(longest_json),
        }),
        Finding::Lateness(lateness) => json!({
            "kind": "late",
            "sync_nanos": lateness.sync.0,
            "share": lateness.share,
            "safepoints": lateness.stops,
            "longest_sync_nanos": lateness.longest.0,
            "worst": lateness.worst.as_ref().map(|worst| safepoints::late_json(worst)),
        }),
        Finding::Request(slow) => json!({
            "kind": "request",
            "entry": slow.row.method,
            "number": slow.row.number,
            "nanos": slow.row.took.0,
            "median_nanos": slow.median.0,
            "why": requests::why(&slow.row),
            "parts": requests::parts_json(&slow.row),
        }),
        Finding::FailedLookups(row) => json!({
            "kind": "lookups",
            "failed": row.count,
            "loader": row.loader,
            "caused_by": row.caused_by.as_ref().map(location),
        }),
        Finding::Initialiser(slow) => json!({
            "kind": "start",
            "class": slow.row.class,
            "nanos": slow.row.total.0,
            "own_nanos": slow.row.own.0,
            "share": slow.share,
            "thread": slow.row.thread,
            "caused_by": slow.row.caused_by.as_ref().map(location),
            "request": slow.request.map(|(entry, number)| json!({ "entry": entry, "number": number })),
        }),
    }
}

/// A finding of thread dumps with its kind, and for how long it was seen.
fn since(mut fields: Value, kind: &str, seen: Option<Nanos>) -> Value {
    fields["kind"] = kind.into();
    fields["seen_nanos"] = seen.map(|seen| seen.0).into();
    fields["before_recording"] = seen.is_some().into();
    fields
}

fn growing(class: &Growing<'_>) -> Value {
    json!({
        "class": class.class,
        "live": class.live,
        "total": class.total,
        "survived_bytes": class.bytes,
        "generations": class.generations,
        "oldest": class.oldest,
        "samples": class.samples,
        "error_bytes": class.error,
    })
}

fn owner((thread, held): &(ThreadName<'_>, Nanos)) -> Value {
    json!({ "thread": name(thread), "nanos": held.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_too_long_become_patterns() {
        assert_eq!(fitted("org.acme.Shop$Cart.add", 80), "'org.acme.Shop$Cart.add'");
        assert_eq!(fitted("org.acme.Shop$Cart.add", 20), "'*.Shop$Cart.add'");
        assert_eq!(fitted("org.acme.main.run", 9), "org.acme.main.run");
    }
}
