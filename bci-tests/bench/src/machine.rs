//! When and on what a benchmark ran, in words that a reader elsewhere can use.

use std::fs;
use std::process::Command;
use std::thread::available_parallelism;

use serde_json::{Value, json};

/// The date, the kind of machine, and how busy it was.
pub(crate) struct Machine {
    date: String,
    processor: String,
    cpus: usize,
    memory_gib: f64,
    load_at_start: f64,
}

impl Machine {
    /// As it is now. What the system does not show is called unknown.
    pub(crate) fn now() -> Self {
        let date = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
        let date = date.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
        Self {
            date,
            processor: field("/proc/cpuinfo", "model name").unwrap_or("unknown processor".into()),
            cpus: available_parallelism().map_or(0, usize::from),
            memory_gib: field("/proc/meminfo", "MemTotal").and_then(|text| kib(&text)).unwrap_or(0.0)
                / f64::from(1 << 20),
            load_at_start: load(),
        }
    }

    /// One line for the head of a table.
    pub(crate) fn line(&self) -> String {
        let Self { date, processor, cpus, memory_gib, load_at_start } = self;
        format!("{date}, {processor}, {cpus} CPUs, {memory_gib:.0} GiB; load before: {load_at_start:.1}")
    }

    /// The same for programs.
    pub(crate) fn json(&self) -> Value {
        json!({
            "date": self.date,
            "processor": self.processor,
            "cpus": self.cpus,
            "memory_gib": self.memory_gib,
            "load_before": self.load_at_start,
        })
    }
}

/// Processes that wanted to run, on average over the last minute. Before a benchmark it should be near 0.
fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN)
}

fn field(file: &str, name: &str) -> Option<String> {
    field_of(&fs::read_to_string(file).ok()?, name)
}

/// What stands behind `name:` in the first line that begins with it.
fn field_of(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn kib(text: &str) -> Option<f64> {
    text.strip_suffix(" kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_system_are_read() {
        assert_eq!(field_of("a\t: 1\nmodel name\t: Fast 9000\n", "model name").as_deref(), Some("Fast 9000"));
        assert_eq!(field_of("a: 1\n", "b"), None);
        assert_eq!(kib("24684 kB"), Some(24684.0));
        assert_eq!(kib("24684"), None);
    }
}
