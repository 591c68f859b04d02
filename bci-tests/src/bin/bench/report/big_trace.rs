//! A large trace of a program that never ran: the same bytes each time it is written.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Frames of a stack that others do not have.
const LEVELS: usize = 10;
/// Frames above those, which all stacks of a thread have.
const COMMON: usize = 6;
/// Ways to go on at each level.
const WAYS: usize = 4;
/// More stacks there are not.
pub(super) const MOST_STACKS: usize = WAYS.pow(LEVELS as u32);

const CLASSES: usize = 2_000;
const METHODS_OF_A_CLASS: usize = 6;
const OBJECT_CLASSES: usize = 500;
const THREADS: usize = 64;

const FIRST_METHOD: usize = 1_000_000;
const FIRST_CLASS: usize = 10_000;
const FIRST_STACK: usize = 10_000_000;
const FIRST_OBJECT: usize = 100_000_000;

/// Objects from one collection to the next, of which one in sixteen survives.
const COLLECTION: usize = 100_000;
/// From one object to the next, in nanoseconds.
const STEP: u64 = 10_000;
/// When it begins, in seconds since 1970.
const BEGIN: u64 = 1_767_606_400;

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<TRACE>
<node nodeId="n" hostname="generated" ipaddress="192.0.2.17" timezone="0" time="1767606400.000000000"/>
<processCreate processId="p" pid="1" nodeIdRef="n" time="1767606400.000000000"/>
<agentCreate agentId="a" version="2.000" processIdRef="p" agentName="org.eclipse.tptp.jvmti" agentType="Profiler" agentParameters="heap=events,stack=16,file=generated.trcxml" time="1767606400.000000000"/>
<traceStart traceId="t" agentIdRef="a" time="1767606400.000000000"/>
<option key="TIMESTAMPS" value="true"/>
"#;

/// Writes a trace of so many objects, allocated on so many different stacks: the first objects have a new one each, later ones are
/// on some stacks more often than on others. Gives back its size.
pub(super) fn write(path: &Path, objects: usize, stacks: usize) -> io::Result<u64> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    out.write_all(HEAD.as_bytes())?;
    names(&mut out)?;
    let mut random = Random(1);
    let mut young = Vec::with_capacity(COLLECTION);
    for object in 0..objects {
        let stack = if object < stacks { object } else { likely(&mut random, stacks) };
        if object < stacks {
            define(stack, &mut out)?;
        }
        let time = time(object as u64 * STEP);
        writeln!(
            out,
            "<objAlloc threadIdRef=\"{}\" isArray=\"0\" size=\"{}\" objId=\"{}\" classIdRef=\"{}\" stackIdRef=\"{}\" time=\"{time}\"/>",
            1 + thread(stack),
            16 + 8 * (random.next() % 64),
            FIRST_OBJECT + object,
            FIRST_CLASS + CLASSES + (method(stack, 0) + stack % WAYS) % OBJECT_CLASSES,
            FIRST_STACK + stack,
        )?;
        young.push(object);
        if young.len() == COLLECTION {
            writeln!(out, "<gcStart time=\"{time}\"/>")?;
            for dead in young.drain(..).filter(|_| !random.next().is_multiple_of(16)) {
                writeln!(out, "<objFree objIdRef=\"{}\" time=\"{time}\"/>", FIRST_OBJECT + dead)?;
            }
            writeln!(out, "<gcFinish time=\"{time}\"/>")?;
        }
    }
    let time = time(objects as u64 * STEP);
    writeln!(
        out,
        "<runtimeShutdown time=\"{time}\"/>\n<traceEnd time=\"{time}\"/>\n\
         <agentDestroy agentIdRef=\"a\" time=\"{time}\"/>\n</TRACE>"
    )?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.metadata().map(|metadata| metadata.len())
}

/// Threads, classes and methods.
fn names(out: &mut impl Write) -> io::Result<()> {
    let time = time(0);
    for thread in 0..THREADS {
        writeln!(
            out,
            "<threadStart threadId=\"{}\" time=\"{time}\" threadName=\"worker-{thread}\" groupName=\"main\" parentName=\"system\" objIdRef=\"0\"/>",
            1 + thread
        )?;
    }
    for class in 0..CLASSES + OBJECT_CLASSES {
        let id = FIRST_CLASS + class;
        let package = class % 40;
        writeln!(
            out,
            "<classDef name=\"com.acme.part{package}.Class{class}\" sourceName=\"Class{class}.java\" classId=\"{id}\" time=\"{time}\"/>"
        )?;
    }
    for method in 0..CLASSES * METHODS_OF_A_CLASS {
        let class = FIRST_CLASS + method / METHODS_OF_A_CLASS;
        let id = FIRST_METHOD + method;
        writeln!(
            out,
            "<methodDef name=\"method{method}\" signature=\"()V\" methodId=\"{id}\" classIdRef=\"{class}\"/>"
        )?;
    }
    Ok(())
}

/// Defines a stack, whose number is the way to it: the innermost frame is its last step.
fn define(stack: usize, out: &mut impl Write) -> io::Result<()> {
    write!(out, "<stackDef stackId=\"{}\" frames=\"", FIRST_STACK + stack)?;
    for level in 0..LEVELS {
        let way = stack / WAYS.pow(level as u32) % WAYS;
        write!(out, "{}:{} ", FIRST_METHOD + method(stack, level), 10 + 7 * way)?;
    }
    for level in 0..COMMON {
        let method = thread(stack) % 4 * COMMON + level;
        write!(out, "{}:{}{}", FIRST_METHOD + method, 100 + level, if level + 1 < COMMON { " " } else { "" })?;
    }
    writeln!(out, "\"/>")
}

/// The method of a stack at a level, of which the innermost is 0: it depends on what called it. Each of its lines allocates one class.
fn method(stack: usize, level: usize) -> usize {
    let callers = stack / WAYS.pow(level as u32 + 1);
    Random((callers * LEVELS + level) as u64).next() as usize % (CLASSES * METHODS_OF_A_CLASS)
}

/// Of the stacks, those with small numbers more often.
fn likely(random: &mut Random, stacks: usize) -> usize {
    let part = (random.next() % (1 << 20)) as f64 / f64::from(1 << 20);
    (part.powi(4) * stacks as f64) as usize
}

/// A stack belongs to a thread.
fn thread(stack: usize) -> usize {
    stack / (MOST_STACKS / THREADS)
}

fn time(nanos: u64) -> String {
    format!("{}.{:09}", BEGIN + nanos / 1_000_000_000, nanos % 1_000_000_000)
}

/// Numbers that look like chance (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;

    use super::*;

    #[test]
    fn a_trace_is_the_same_each_time_and_its_stacks_differ() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = ["one", "two"].map(|name| {
            let path = folder.path().join(name);
            let size = write(&path, 120_000, 20_000).expect("it is written");
            let text = fs::read_to_string(&path).expect("it is text");
            assert_eq!(size, text.len() as u64);
            text
        });
        assert!(text[0] == text[1]);
        let stacks = text[0].lines().filter_map(|line| line.strip_prefix("<stackDef ")?.split_once("frames="));
        let frames: HashSet<&str> = stacks.map(|(_, frames)| frames).collect();
        assert_eq!(frames.len(), 20_000);
        assert_eq!(text[0].matches("<objAlloc ").count(), 120_000);
        assert!(text[0].matches("<objFree ").count() > 90_000);
    }
}
