//! Threads and their waits over time, as JSON that trace viewers load (Perfetto, `chrome://tracing`).
//!
//! The form is Chrome's Trace Event Format. Every thread is a track; what it waits for are slices on it, with who owned it in
//! their arguments, and an arrow from the owner. Events are written as they come, so a trace of any length takes little memory.
//! Virtual threads, of which there may be a hundred thousand, share as few tracks as they can without overlapping.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use trace::file::Kind;
use trace::time::Time;

use crate::locks::{Observer, ProcessorTime, Stall, ThreadName};

/// Viewers need a process id; any will do.
const PID: u32 = 1;

/// Maximum number of tracks for virtual threads: viewers cannot show twenty thousand.
const MAX_LANES: usize = 1000;

/// What a timeline begins with.
const BEGINNING: &str = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";

/// Files with a timeline.
pub const TIMELINE: Kind = Kind { name: "timeline", is_begun_by: |head| head.starts_with(BEGINNING.as_bytes()) };

/// Writes a timeline.
pub struct Timeline<W> {
    out: W,
    /// The time that becomes 0.
    origin: Time,
    events: u64,
    arrows: u64,
    tracks: u64,
    /// Living threads.
    threads: FxHashMap<u64, Track>,
    /// Tracks of virtual threads by when they are free again.
    lanes: BTreeMap<(Time, u64), ()>,
    left_out: u64,
    error: Option<io::Error>,
}

#[derive(Clone, Debug)]
enum Track {
    /// The thread has one of its own.
    Own(u64),
    /// It is virtual, and shows by its waits only.
    Shared(String),
}

impl<W: Write> Timeline<W> {
    /// Begins a timeline.
    pub fn new(mut out: W) -> Self {
        let error = out.write_all(BEGINNING.as_bytes()).err();
        Timeline {
            out,
            origin: Time(0),
            events: 0,
            arrows: 0,
            tracks: 0,
            threads: FxHashMap::default(),
            lanes: BTreeMap::new(),
            left_out: 0,
            error,
        }
    }

    /// Ends the timeline; gives back how many waits of virtual threads are not on it, because more than 1,000 of them waited at
    /// once.
    ///
    /// # Errors
    /// What went wrong first while it was written.
    pub fn finish(mut self) -> io::Result<u64> {
        match self.error {
            Some(error) => Err(error),
            None => {
                writeln!(self.out, "\n]}}")?;
                self.out.flush()?;
                Ok(self.left_out)
            }
        }
    }

    fn event(&mut self, event: Value) {
        if self.error.is_some() {
            return;
        }
        let comma = if self.events == 0 { "" } else { "," };
        self.events += 1;
        self.error = write!(self.out, "{comma}\n{event}").err();
    }

    fn new_track(&mut self, name: &str) -> u64 {
        self.tracks += 1;
        let track = self.tracks;
        let name = json!({ "ph": "M", "name": "thread_name", "pid": PID, "tid": track, "args": { "name": name } });
        self.event(name);
        track
    }

    /// A track that nothing is on from a time on; `None` if there are too many.
    fn lane(&mut self, since: Time, until: Time) -> Option<u64> {
        let free = self.lanes.range(..=(since, u64::MAX)).next_back().map(|(&key, ())| key);
        let lane = match free {
            Some((end, lane)) => {
                self.lanes.remove(&(end, lane));
                lane
            }
            None if self.lanes.len() >= MAX_LANES => {
                self.left_out += 1;
                return None;
            }
            None => self.new_track(&format!("virtual threads {}", self.lanes.len() + 1)),
        };
        self.lanes.insert((until, lane), ());
        Some(lane)
    }

    /// Microseconds since the first event, with three decimals: viewers want microseconds, locks nanoseconds.
    fn micros(&self, time: Time) -> Value {
        number(time.since(self.origin).0)
    }
}

/// Nanoseconds as microseconds.
fn number(nanos: u64) -> Value {
    json!(nanos as f64 / 1000.0)
}

impl<W: Write> Observer for Timeline<W> {
    fn begin(&mut self, origin: Time) {
        self.origin = origin;
    }

    fn thread_started(&mut self, thread: u64, name: ThreadName<'_>) {
        let track = match name.is_virtual() {
            true => Track::Shared(name.to_string()),
            false => Track::Own(self.new_track(&name.to_string())),
        };
        self.threads.insert(thread, track);
    }

    fn thread_ended(&mut self, thread: u64, since: Time, until: Time, is_open: bool, processor: Option<ProcessorTime>) {
        let Some(Track::Own(track)) = self.threads.remove(&thread) else { return };
        self.event(json!({
            "ph": "X", "name": "alive", "cat": "thread", "pid": PID, "tid": track,
            "ts": self.micros(since), "dur": number(until.since(since).0),
            "args": {
                "still_there": is_open,
                "cpu_us": processor.map(|processor| number(processor.cpu.0)),
                "queued_us": processor.and_then(|processor| processor.queued).map(|queued| number(queued.0)),
            },
        }));
    }

    fn stall(&mut self, stall: &Stall<'_>) {
        let (track, thread) = match self.threads.get(&stall.thread) {
            Some(Track::Own(track)) => (*track, None),
            Some(Track::Shared(name)) => {
                let name = name.clone();
                let Some(lane) = self.lane(stall.since, stall.until) else { return };
                (lane, Some(name))
            }
            None => return,
        };
        let state = stall.state.as_str();
        let name = match stall.class {
            Some(class) => format!("{state}: {class}"),
            None => state.to_owned(),
        };
        let mut arguments = serde_json::Map::new();
        let mut argument =
            |key: &str, value: Option<Value>| arguments.extend(value.map(|value| (key.to_owned(), value)));
        argument("thread", thread.map(Value::from));
        argument("object", stall.object.map(|object| json!(object.0)));
        argument("at", stall.at.map(|at| json!(at.to_string())));
        argument("owner", stall.owner.map(|(_, name)| json!(name.to_string())));
        argument("owner_at", stall.owner_at.map(|at| json!(at.to_string())));
        argument("still_there", stall.is_open.then_some(Value::Bool(true)));
        let since = self.micros(stall.since);
        self.event(json!({
            "ph": "X", "name": name, "cat": state, "pid": PID, "tid": track,
            "ts": since, "dur": number(stall.until.since(stall.since).0), "args": arguments,
        }));
        let owner = stall.owner.and_then(|(owner, _)| self.threads.get(&owner));
        if let Some(&Track::Own(owner)) = owner {
            self.arrows += 1;
            for (phase, track) in [("s", owner), ("f", track)] {
                self.event(json!({
                    "ph": phase, "bp": "e", "name": "owner", "cat": "owner", "id": self.arrows, "pid": PID,
                    "tid": track, "ts": since,
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks::State;

    #[test]
    fn virtual_threads_share_tracks_and_there_are_not_too_many() {
        let mut json = Vec::new();
        let mut timeline = Timeline::new(&mut json);
        timeline.begin(Time(0));
        let stall = |thread, since| Stall {
            thread,
            state: State::Parked,
            is_contended: false,
            since: Time(since),
            until: Time(since + 10),
            is_open: false,
            object: None,
            class: None,
            at: None,
            owner: None,
            owner_at: None,
        };
        for thread in 0..MAX_LANES as u64 + 5 {
            timeline.thread_started(thread, ThreadName { name: "", group: "VirtualThreads", id: None });
            timeline.stall(&stall(thread, 0));
        }
        for thread in 0..3 {
            timeline.stall(&stall(thread, 10));
        }
        assert_eq!(timeline.finish().unwrap(), 5);
        let json: Value = serde_json::from_slice(&json).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        assert_eq!(events.iter().filter(|event| event["ph"] == "M").count(), MAX_LANES);
        assert_eq!(events.iter().filter(|event| event["ph"] == "X").count(), MAX_LANES + 3);
    }
}
