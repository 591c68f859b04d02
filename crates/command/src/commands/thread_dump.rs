//! `martini threads PID`: what the threads of a running JVM do. Needs no agent.

use std::io::Write;

use ::thread_dump::{DumpThread, ThreadDump, WaitKind, Waits};
use analysis::own_code::OwnCode;
use analysis::thread_dumps::BlockedThreads;
use anyhow::Context;
use attach::{AttachError, Jvm, Process, Target};
use serde_json::json;

use crate::attach::recording;
use crate::attach::stage::Stage;
use crate::commands::lock_selection::LockSelection;
use crate::commands::per_file::print_json;
use crate::exit;
use crate::render::human::{bytes, count, counted, printable};
use crate::render::page::{Page, Width};
use crate::render::table::write_left_out;
use crate::render::thread_dump;

/// Owners of locks of java.util.concurrent are found by a walk through the heap, which stops the program for 160 ms for each GiB. A
/// process that takes more than this is asked only on demand.
const LARGE: u64 = 4 << 30;
/// The first release with virtual threads.
const FIRST_WITH_VIRTUAL: u32 = 21;
/// The file of virtual threads.
const VIRTUAL: &str = "threads.json";

/// What is shown, and how.
pub(crate) struct Show<'a> {
    /// Of which threads.
    pub(crate) selection: &'a LockSelection,
    /// Owners are looked for however large the heap is.
    pub(crate) owners: bool,
    /// So many groups.
    pub(crate) groups: usize,
    /// Of each so many frames.
    pub(crate) frames: usize,
    /// As JSON.
    pub(crate) json: bool,
    /// How wide.
    pub(crate) width: Width,
}

/// Shows what the threads of a JVM do.
///
/// # Errors
/// It cannot be asked.
pub(crate) fn run(pid: u32, show: &Show<'_>) -> anyhow::Result<u8> {
    let target = recording::target(pid)?;
    let (dump, notes) = take(&target, show.owners)?;
    let selects = |thread: &DumpThread| show.selection.selects(&thread.name);
    let blocked = BlockedThreads::of(&dump, &OwnCode::default(), |index| selects(dump.thread(index)));
    let mut out = anstream::stdout().lock();
    if show.json {
        let mut document = thread_dump::json(&dump, &blocked, selects);
        document["pid"] = json!(pid);
        document["notes"] = json!(notes);
        print_json("threads", &document, &mut out)?;
        return Ok(exit::OK);
    }
    let mut text = Vec::new();
    let page = &mut Page::new(&mut text, show.width);
    let virtual_threads = dump.virtual_threads().count() as u64;
    let of_which =
        if virtual_threads > 0 { format!(", {} of them virtual", count(virtual_threads)) } else { String::new() };
    let threads = counted(dump.threads.len() as u64, "thread", "threads");
    page.write_sentence(0, &format!("JVM {pid}: {threads}{of_which}"))?;
    notes.iter().try_for_each(|note| page.write_sentence(0, &printable(note)))?;
    thread_dump::write_blocked(&blocked, page)?;
    let mut groups = dump.groups();
    groups.retain(|group| group.threads.iter().any(|&index| selects(dump.thread(index))));
    let left = groups.split_off(groups.len().min(show.groups));
    thread_dump::write_groups(&dump, &groups, show.frames, page)?;
    write_left_out(left.len(), page)?;
    out.write_all(&text)?;
    Ok(exit::OK)
}

/// Asks a JVM for all its threads. What is not known is said in sentences.
fn take(target: &Target, owners: bool) -> anyhow::Result<(ThreadDump, Vec<String>)> {
    let mut notes = Vec::new();
    let mut dump = ThreadDump::parse(&target.threads("Thread.print")?);
    // The walk is worth it only where somebody waits for such a lock.
    let waits_for_lock = Waits::of(&dump).queues().iter().any(|queue| {
        let waiter = queue.waiters.first().and_then(|&waiter| dump.thread(waiter).wait.as_ref());
        waiter.is_some_and(|wait| wait.kind == WaitKind::Park && wait.lock.class.contains(".locks.Reentrant"))
    });
    if waits_for_lock {
        match resident(target.process()).filter(|&taken| taken > LARGE && !owners) {
            None => dump = ThreadDump::parse(&target.threads("Thread.print -l")?),
            Some(taken) => notes.push(format!(
                "owners of java.util.concurrent locks were not looked for: that walks the heap, and the process takes {}; \
                 add --owners",
                bytes(taken)
            )),
        }
    }
    let feature = Jvm::of(Process::find(target.process().pid())?).as_ref().and_then(Jvm::feature);
    if feature.is_none_or(|feature| feature >= FIRST_WITH_VIRTUAL) {
        match virtual_threads(target) {
            Ok(json) => dump.add_virtual_threads(&json)?,
            Err(error) => notes.push(format!("virtual threads are not in this dump: {error:#}")),
        }
    }
    Ok((dump, notes))
}

/// What the JVM says of its virtual threads, which only a file gets.
fn virtual_threads(target: &Target) -> anyhow::Result<String> {
    let stage = Stage::make(target)?;
    let written = target.threads(&format!("Thread.dump_to_file -format=json {}", stage.path(VIRTUAL)));
    let read = written
        .map_err(AttachError::into)
        .and_then(|said: String| stage.read(target, VIRTUAL).with_context(|| said.trim().to_owned()));
    stage.remove(target);
    read
}

/// Bytes of memory that a process takes.
fn resident(process: &Process) -> Option<u64> {
    let statm = String::from_utf8(process.read("statm").ok()?).ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}
