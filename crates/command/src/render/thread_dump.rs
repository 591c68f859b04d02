//! What a dump of all threads shows: what keeps threads waiting, and threads with the same stack.

use std::io::{self, Write};

use analysis::thread_dumps::{BlockedThreads, DumpDeadlock, HeldUpThreads, QueuedThreads, WaitingThread};
use owo_colors::OwoColorize;
use serde_json::{Value, json};
use thread_dump::{DumpThread, Group, Lock, ThreadDump, ThreadIndex, WaitKind, Waits};
use trace::time::Nanos;

use crate::render::human::{count, counted, duration, printable};
use crate::render::page::Page;
use crate::render::view::location;

/// A label, what stands behind it, and what that means.
pub(crate) struct Words {
    /// The label.
    pub(crate) label: &'static str,
    /// What stands behind it.
    pub(crate) head: String,
    /// What that means.
    pub(crate) sentences: Vec<String>,
}

/// A deadlock in words. `seen`: how long it was seen; a single dump does not say.
pub(crate) fn deadlock(found: &DumpDeadlock<'_>, seen: Option<Nanos>) -> Words {
    let name = |place: usize| found.members[place % found.members.len()].thread.to_string();
    let names: Vec<String> = (0..found.members.len()).map(name).collect();
    let waits = |(place, member): (usize, &WaitingThread<'_>)| {
        let at = member.at.map_or(String::new(), |at| format!(" at {at}"));
        let lock = member.lock.map_or(String::new(), |lock| format!(" for {}", lock_name(lock)));
        format!("{} waits{at}{lock}, owned by {}", member.thread, name(place + 1))
    };
    let mut sentences: Vec<String> = found.members.iter().enumerate().map(waits).collect();
    if found.behind > 0 {
        let more = counted(found.behind as u64, "more thread waits", "more threads wait");
        sentences.push(format!("{more} for them"));
    }
    Words { label: "deadlock:", head: format!("{} wait for each other{}", names.join(" and "), since(seen)), sentences }
}

/// Threads that an owner holds up, in words.
pub(crate) fn held_up(found: &HeldUpThreads<'_>, seen: Option<Nanos>) -> Words {
    let threads = counted(found.waiters.len() as u64, "thread waits", "threads wait");
    let does = match (found.owner_at, found.owner_calls) {
        (Some(at), Some(calls)) => format!("{} is at {at}, which calls {calls}", found.owner),
        (Some(at), None) => format!("{} is at {at}", found.owner),
        (None, _) => format!("{} runs no Java", found.owner),
    };
    let lock = found.lock.map_or(String::new(), |lock| format!(" for {}", lock_name(lock)));
    let at = found.at.map_or(String::new(), |at| format!(" at {at}"));
    let waits = format!("waiting{at}{lock}: {}", names(&found.waiters));
    Words {
        label: "stuck:",
        head: format!("{threads} for {}{}", found.owner, since(seen)),
        sentences: vec![does, waits],
    }
}

/// Threads that wait for what nobody is known to own, in words.
pub(crate) fn queued(found: &QueuedThreads<'_>, seen: Option<Nanos>) -> Words {
    let threads = counted(found.waiters.len() as u64, "thread waits", "threads wait");
    let lock = lock_name(&found.lock);
    let whose = match lock {
        "java.util.concurrent.Semaphore" => "a semaphore does not say who has its permits",
        "java.util.concurrent.locks.ReentrantReadWriteLock" | "java.util.concurrent.locks.StampedLock" => {
            "its owner is unknown: read locks do not say who holds them"
        }
        _ => "its owner is unknown: virtual threads are not among the owners that the JVM names",
    };
    let at = found.at.map_or(String::new(), |at| format!(" at {at}"));
    let waits = format!("waiting{at}: {}", names(&found.waiters));
    Words {
        label: "stuck:",
        head: format!("{threads} for {lock}{}", since(seen)),
        sentences: vec![waits, whose.to_owned()],
    }
}

/// Since when it is so.
fn since(seen: Option<Nanos>) -> String {
    seen.map_or(String::new(), |seen| format!(", since before the recording: for at least {}", duration(seen)))
}

/// A lock by its class; a synchronizer by the class that the program knows.
fn lock_name(lock: &Lock) -> &str {
    let inner = ["$NonfairSync", "$FairSync", "$Sync"];
    inner.iter().find_map(|inner| lock.class.strip_suffix(inner)).unwrap_or(&lock.class)
}

/// The first of some names, and how many there are beside them.
fn names(threads: &[&DumpThread]) -> String {
    /// More say nothing new.
    const SHOWN: usize = 3;
    let shown: Vec<String> = threads.iter().take(SHOWN).map(|thread| thread.to_string()).collect();
    match threads.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), count(more as u64)),
    }
}

/// Writes what keeps threads waiting; nothing if nothing does.
pub(crate) fn write_blocked(blocked: &BlockedThreads<'_>, out: &mut Page<'_>) -> io::Result<()> {
    let deadlocks = blocked.deadlocks.iter().map(|found| deadlock(found, None));
    let held = blocked.held_up.iter().map(|found| held_up(found, None));
    let queues = blocked.queues.iter().map(|found| queued(found, None));
    for Words { label, head, sentences } in deadlocks.chain(held).chain(queues) {
        let head = out.behind(label, &printable(&head));
        writeln!(out, "\n{}{head}", label.bold())?;
        sentences.iter().try_for_each(|sentence| out.write_sentence(2, &printable(sentence)))?;
    }
    Ok(())
}

/// Writes groups of threads with the same stack, with as many frames of it.
pub(crate) fn write_groups(dump: &ThreadDump, groups: &[Group], frames: usize, out: &mut Page<'_>) -> io::Result<()> {
    let waits = Waits::of(dump);
    for Group { threads } in groups {
        let Some(&first) = threads.first() else { continue };
        let thread = dump.thread(first);
        let all: Vec<&DumpThread> = threads.iter().map(|&index| dump.thread(index)).collect();
        let kind = if thread.is_virtual { " virtual" } else { "" };
        let label =
            format!("{}{kind} {}", count(threads.len() as u64), if threads.len() == 1 { "thread" } else { "threads" });
        let state = thread.state.map_or("", |state| state.as_str());
        let head = [state, &names(&all)].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ");
        let head = out.behind(&label, &printable(&head));
        writeln!(out, "\n{}{head}", label.bold())?;
        if let Some(wait) = wait_of(dump, &waits, threads) {
            out.write_sentence(2, &printable(&wait))?;
        }
        for frame in dump.stack(thread).take(frames) {
            let line = out.fit(4, &printable(&format!("at {frame}")));
            writeln!(out, "    {line}")?;
        }
        let more = thread.stack.len().saturating_sub(frames);
        if more > 0 {
            writeln!(out, "    {}", format!("{} more", counted(more as u64, "frame", "frames")).dimmed())?;
        }
    }
    Ok(())
}

/// For what threads of a group wait, if all wait for the same.
fn wait_of(dump: &ThreadDump, waits: &Waits<'_>, threads: &[ThreadIndex]) -> Option<String> {
    let first = dump.thread(*threads.first()?).wait.as_ref()?;
    let is_same = threads.iter().all(|&index| dump.thread(index).wait.as_ref() == Some(first));
    let verb = match first.kind {
        WaitKind::Enter => "blocked by",
        WaitKind::Notify => "waiting to be notified by",
        WaitKind::Park => "parked for",
    };
    let owner = waits.owner(threads[0]).filter(|_| is_same);
    let owner = owner.map_or(String::new(), |owner| format!(", owned by {}", dump.thread(owner)));
    let several = if is_same { "" } else { " (several)" };
    Some(format!("{verb} {}{several}{owner}", lock_name(&first.lock)))
}

/// All threads of a dump, and what keeps some of them, in JSON.
pub(crate) fn json(dump: &ThreadDump, blocked: &BlockedThreads<'_>, selects: impl Fn(&DumpThread) -> bool) -> Value {
    let waits = Waits::of(dump);
    let thread = |(index, thread): (usize, &DumpThread)| {
        let owner = waits.owner(ThreadIndex(index)).map(|owner| dump.thread(owner).number);
        json!({
            "name": thread.name,
            "number": thread.number,
            "virtual": thread.is_virtual,
            "carries": thread.carries,
            "state": thread.state.map(|state| state.as_str()),
            "cpu_nanos": thread.cpu.map(|cpu| cpu.0),
            "waits_for": thread.wait.as_ref().map(|wait| json!({
                "kind": match wait.kind {
                    WaitKind::Enter => "monitor",
                    WaitKind::Notify => "notification",
                    WaitKind::Park => "park",
                },
                "class": wait.lock.class,
                "address": wait.lock.address.map(|address| format!("{address:#x}")),
                "owner": owner,
            })),
            "holds": thread.holds.iter().map(|lock| &lock.class).collect::<Vec<_>>(),
            "stack": dump.stack(thread).map(ToString::to_string).collect::<Vec<_>>(),
        })
    };
    let threads: Vec<Value> =
        dump.threads.iter().enumerate().filter(|(_, thread)| selects(thread)).map(thread).collect();
    json!({
        "threads": threads,
        "deadlocks": blocked.deadlocks.iter().map(deadlock_json).collect::<Vec<_>>(),
        "stuck": blocked.held_up.iter().map(held_up_json).chain(blocked.queues.iter().map(queued_json)).collect::<Vec<_>>(),
    })
}

/// A deadlock in JSON.
pub(crate) fn deadlock_json(found: &DumpDeadlock<'_>) -> Value {
    let member = |member: &WaitingThread<'_>| {
        json!({
            "name": member.thread.name,
            "number": member.thread.number,
            "waits_for": member.lock.map(|lock| &lock.class),
            "at": member.at.as_ref().map(location),
            "stack": member.stack.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    };
    json!({ "threads": found.members.iter().map(member).collect::<Vec<_>>(), "more_waiters": found.behind })
}

/// Threads that an owner holds up, in JSON.
pub(crate) fn held_up_json(found: &HeldUpThreads<'_>) -> Value {
    json!({
        "owner": { "name": found.owner.name, "number": found.owner.number },
        "owner_at": found.owner_at.as_ref().map(location),
        "owner_calls": found.owner_calls.as_ref().map(location),
        "waiters": numbers(&found.waiters),
        "class": found.lock.map(|lock| &lock.class),
        "at": found.at.as_ref().map(location),
    })
}

/// Threads that wait for what nobody is known to own, in JSON.
pub(crate) fn queued_json(found: &QueuedThreads<'_>) -> Value {
    json!({
        "owner": null,
        "waiters": numbers(&found.waiters),
        "class": found.lock.class,
        "at": found.at.as_ref().map(location),
    })
}

fn numbers(threads: &[&DumpThread]) -> Value {
    threads.iter().map(|thread| thread.number).collect()
}
