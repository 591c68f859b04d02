//! What a recording says of itself: how it was recorded, and by whom.

use std::collections::BTreeMap;

use trace::time::Nanos;

use super::constants::Constants;
use crate::read::{Chunk, Damage, Event, Value};

/// What async-profiler does unless it is asked for something else.
const CPU_DEFAULT: Nanos = Nanos(10_000_000);
const WALL_DEFAULT: Nanos = Nanos(50_000_000);

/// What was set, as far as it was said.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    /// Between two samples of threads that run.
    period: Option<Nanos>,
    /// The same of async-profiler, and between two of its looks at a thread; 0 is its default.
    interval: Option<Nanos>,
    wall: Option<Nanos>,
    /// What async-profiler samples by; samples are of CPU time only with some.
    by: Box<str>,
    /// Waits that are shorter are not recorded, by the type of event.
    pub(super) thresholds: BTreeMap<Box<str>, Nanos>,
    /// Which JVM it was: its version, its arguments and its process.
    pub(super) version: Box<str>,
    pub(super) command: Box<str>,
    pub(super) pid: u64,
    pub(super) has_jvm: bool,
    /// The name of the recording.
    pub(super) recording: Box<str>,
}

impl Settings {
    /// Takes in an event, if it is one that says something of the recording.
    pub(super) fn event(
        &mut self,
        chunk: &Chunk,
        event: &Event,
        constants: &mut Constants<'_>,
    ) -> Result<bool, Damage> {
        let object = event.object;
        match chunk.event_name(event) {
            "jdk.ActiveSetting" => {
                let of = match chunk.get(object, "id")? {
                    Value::Number(id) => chunk.type_name(id),
                    _ => "",
                };
                let (name, value) = (constants.text(object, "name")?, constants.text(object, "value")?);
                self.set(of, &name, &value);
            }
            "jdk.ActiveRecording" => self.recording = constants.text(object, "name")?,
            "jdk.JVMInformation" => {
                self.has_jvm = true;
                let version = constants.text(object, "jvmVersion")?;
                let inside = version.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
                self.version = inside.map_or(&*version, |(inside, _)| inside).into();
                self.command = constants.text(object, "javaArguments")?;
                if let Value::Number(pid) = chunk.get(object, "pid")? {
                    self.pid = pid.max(0).cast_unsigned();
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn set(&mut self, of: &str, name: &str, value: &str) {
        match name {
            "period" if of == "jdk.ExecutionSample" => self.period = span(value).or(self.period),
            "threshold" if is_wait(of) => {
                if let Some(threshold) = span(value).filter(|threshold| threshold.0 > 0) {
                    self.thresholds.insert(of.into(), threshold);
                }
            }
            // async-profiler's, in nanoseconds.
            "interval" => self.interval = span(value),
            "wall" => self.wall = span(value),
            "event" => self.by = value.into(),
            _ => {}
        }
    }

    /// Samples of threads that run are of CPU time.
    pub(super) fn is_of_cpu(&self) -> bool {
        matches!(&*self.by, "" | "cpu" | "itimer" | "ctimer" | "cpu-clock" | "task-clock")
    }

    /// For how long a sample of a thread that runs stands, if that is known.
    pub(super) fn cpu_period(&self) -> Option<Nanos> {
        let interval = self.interval.filter(|_| &*self.by != "wall");
        self.period.or(interval.map(|interval| or_default(interval, CPU_DEFAULT)))
    }

    /// The same of a look at a thread.
    pub(super) fn wall_period(&self) -> Option<Nanos> {
        let interval = self.wall.or(self.interval.filter(|_| &*self.by == "wall"));
        interval.map(|interval| or_default(interval, WALL_DEFAULT))
    }

    /// Who recorded.
    pub(super) fn recorder(&self) -> &str {
        match (self.recording.starts_with("async-profiler"), self.has_jvm) {
            (true, _) => "async-profiler",
            (_, true) => "JDK Flight Recorder",
            _ => "flight recording",
        }
    }
}

/// Whether events of a type are waits.
pub(super) fn is_wait(name: &str) -> bool {
    matches!(name, "jdk.JavaMonitorEnter" | "jdk.JavaMonitorWait" | "jdk.ThreadPark" | "jdk.ThreadSleep")
}

fn or_default(interval: Nanos, default: Nanos) -> Nanos {
    if interval.0 == 0 { default } else { interval }
}

/// A length of time such as `20 ms`; without a unit it is nanoseconds.
fn span(text: &str) -> Option<Nanos> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim() {
        "" | "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    Some(Nanos(number.checked_mul(unit)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_async_profiler_are_of_what_it_samples() {
        let settings = |said: &[(&str, &str)]| {
            let mut settings = Settings::default();
            said.iter().for_each(|(name, value)| settings.set("", name, value));
            (settings.cpu_period().map(|nanos| nanos.0), settings.wall_period().map(|nanos| nanos.0))
        };
        assert_eq!(settings(&[]), (None, None));
        assert_eq!(settings(&[("event", "cpu"), ("interval", "0")]), (Some(10_000_000), None));
        assert_eq!(settings(&[("event", "cpu"), ("interval", "7"), ("wall", "9")]), (Some(7), Some(9)));
        assert_eq!(settings(&[("event", "wall"), ("interval", "0")]), (None, Some(50_000_000)));
    }

    #[test]
    fn lengths_of_time_have_units() {
        for (text, nanos) in [
            ("20 ms", Some(20_000_000)),
            ("10000000", Some(10_000_000)),
            ("1 s", Some(1_000_000_000)),
            ("0 ns", Some(0)),
            ("everyChunk", None),
            ("5 years", None),
            ("", None),
            ("99999999999999999999", None),
            ("9999999999999999 s", None),
        ] {
            assert_eq!(span(text), nanos.map(Nanos), "{text}");
        }
    }
}
