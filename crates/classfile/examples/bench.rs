//! Rewrites every class of a pack, single thread, beside ASM doing the same in a JVM, and prints medians.
//!
//! `bench PACK ROUNDS [JAVA COMMAND...]`. The command starts `AsmBench`; `bci-tests/asm-bench/run` makes the pack and
//! puts it all together. Without a command only the Rust side runs.
//!
//! Rounds alternate (Rust, ASM, ASM with computed frames), so that a change of the machine's speed meets all three;
//! the first three rounds warm the JVM up and do not count. Time is CPU time of the one thread that rewrites, which other
//! work on the machine does not lengthen; what the JVM's compiler and collector threads take is not charged to ASM.

#[path = "../tests/support/pack.rs"]
mod pack;
#[path = "../tests/support/sites.rs"]
mod sites;

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use sites::Sites;

const WARM_UP: usize = 3;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, rounds, command @ ..] = &args[..] else {
        panic!("usage: bench PACK ROUNDS [JAVA COMMAND...]");
    };
    let rounds: usize = rounds.parse().expect("ROUNDS is a number");
    let bytes = std::fs::read(file).expect("the pack is readable");
    let classes: Vec<&[u8]> = pack::classes(&bytes).collect();
    println!("{} classes, {:.1} MB", classes.len(), bytes.len() as f64 / 1e6);
    for (scenario, insertions) in [
        ("events", "after array instructions and in Object.<init> (heap=events)"),
        ("counts", "after array instructions and every new (heap=counts)"),
    ] {
        println!("{insertions}:");
        let sites = if scenario == "events" { Sites::events } else { Sites::counts };
        let mut asm = Asm::start(command, scenario);
        let mut times = [const { Vec::new() }; 3];
        let mut rust = (0, 0, 0);
        for round in 0..rounds + WARM_UP {
            let (seconds, done) = rust_round(&classes, sites());
            rust = done;
            let mut found = [Some(seconds), None, None];
            if let Some(asm) = &mut asm {
                for (mode, name) in [(1, "plain"), (2, "frames")] {
                    let (seconds, sites) = asm.round(name);
                    assert_eq!(sites, rust.0, "both insert at the same sites");
                    found[mode] = Some(seconds);
                }
            }
            if round >= WARM_UP {
                for (times, seconds) in times.iter_mut().zip(found) {
                    times.extend(seconds);
                }
            }
        }
        let (sites, changed, refused) = rust;
        println!("  {sites} sites in {changed} classes, {refused} methods refused");
        let ours = median(&mut times[0]);
        for (name, times) in ["Martini", "ASM", "ASM COMPUTE_FRAMES"].iter().zip(&mut times) {
            if let Some(seconds) = median(times) {
                println!(
                    "  {name:<20} {:>8.1} ms {:>9.0} classes/s {:>7.0} MB/s {:>7.1} times Martini's time",
                    seconds * 1e3,
                    classes.len() as f64 / seconds,
                    bytes.len() as f64 / 1e6 / seconds,
                    seconds / ours.unwrap_or(seconds),
                );
            }
        }
    }
}

/// Seconds, and how many sites, changed classes and refused methods.
fn rust_round(classes: &[&[u8]], mut sites: Sites) -> (f64, (u64, usize, usize)) {
    let (mut inserted, mut changed, mut refused) = (0, 0, 0);
    let start = cpu_seconds();
    for class in classes {
        let done = classfile::rewrite(class, &mut sites).expect("a class of a JDK is well-formed");
        inserted += u64::from(done.inserted_sites);
        changed += usize::from(done.bytes.is_some());
        refused += done.refused.len();
        black_box(done.bytes);
    }
    (cpu_seconds() - start, (inserted, changed, refused))
}

/// CPU time of this thread, from the kernel's scheduler.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux with scheduler statistics");
    let nanos = text.split_whitespace().next().and_then(|n| n.parse::<u64>().ok());
    nanos.expect("schedstat begins with nanoseconds") as f64 / 1e9
}

fn median(times: &mut [f64]) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

/// The JVM with `AsmBench` in it.
struct Asm {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Asm {
    fn start(command: &[String], scenario: &str) -> Option<Self> {
        let (program, args) = command.split_first()?;
        let mut child = Command::new(program)
            .args(args)
            .arg(scenario)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the JVM starts");
        let commands = child.stdin.take().expect("piped");
        let answers = BufReader::new(child.stdout.take().expect("piped"));
        Some(Asm { child, commands, answers })
    }

    /// Seconds and sites of one round.
    fn round(&mut self, mode: &str) -> (f64, u64) {
        writeln!(self.commands, "{mode}").expect("AsmBench reads its input");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("AsmBench answers");
        let mut fields = line.split_whitespace().map(|f| f.parse::<u64>().expect("numbers"));
        let nanos = fields.next().expect("AsmBench answers with nanoseconds");
        let sites = fields.next().expect("AsmBench answers with sites");
        (nanos as f64 / 1e9, sites)
    }
}

impl Drop for Asm {
    fn drop(&mut self) {
        // It may have ended already; nothing hangs on it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
