//! What a program says of itself, and what a profiler says of it.

/// The thread that does all the work, and the one that carries it where it is a virtual thread.
const WORKERS: [&str; 2] = ["worker", "ForkJoinPool-1-worker-1"];
/// In the names of the VM's threads that are distinguished.
const COLLECTORS: &str = "GC Thread";

/// Whether a thread of this name is the one that works.
pub(super) fn is_worker(thread: &str) -> bool {
    WORKERS.contains(&thread)
}

/// The program's processor time by the clocks, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Truth {
    /// The classes of its parts.
    pub(super) parts: Vec<(String, f64)>,
    pub(super) worker: f64,
    pub(super) collectors: f64,
}

impl Truth {
    /// From what it prints.
    pub(super) fn of(out: &str) -> Result<Truth, String> {
        let mut truth = Truth::default();
        for (key, value) in out.lines().filter_map(|line| line.split_once('=')) {
            let Ok(nanos) = value.parse::<u64>() else { continue };
            let seconds = nanos as f64 / 1e9;
            match key.split_once('.') {
                Some(("part", class)) => truth.parts.push((class.to_owned(), seconds)),
                Some(("threads", COLLECTORS)) => truth.collectors = seconds,
                None if key == "worker" => truth.worker = seconds,
                _ => {}
            }
        }
        let is_whole = !truth.parts.is_empty() && truth.worker > 0.0;
        is_whole.then_some(truth).ok_or_else(|| "the program did not print its times".into())
    }

    /// Names of what is judged: the parts, and the collector's threads where they did something.
    pub(super) fn judged(&self) -> Vec<String> {
        let parts = self.parts.iter().map(|(class, _)| class.trim_start_matches("split.").to_owned());
        parts.chain(self.has_collectors().then(|| "the collector's threads".to_owned())).collect()
    }

    fn has_collectors(&self) -> bool {
        self.collectors > 0.1 * self.worker
    }

    /// Of the worker's time what each part has, and of theirs and the worker's what the collector's threads have; in percent.
    pub(super) fn shares(&self) -> Vec<f64> {
        let parts = self.parts.iter().map(|(_, seconds)| seconds / self.worker);
        let collectors = self.collectors / (self.collectors + self.worker);
        parts.chain(self.has_collectors().then_some(collectors)).map(|share| 100.0 * share).collect()
    }
}

/// The same as a profiler has it, in a unit of its own.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Profile {
    classes: Vec<String>,
    parts: Vec<f64>,
    worker: f64,
    /// Of the worker's, without any frame.
    lost: f64,
    collectors: f64,
    samples: u64,
    has_collectors: bool,
}

impl Profile {
    /// Nothing of a program.
    pub(super) fn new(truth: &Truth) -> Profile {
        Profile {
            classes: truth.parts.iter().map(|(class, _)| format!("{class}.")).collect(),
            parts: vec![0.0; truth.parts.len()],
            worker: 0.0,
            lost: 0.0,
            collectors: 0.0,
            samples: 0,
            has_collectors: truth.has_collectors(),
        }
    }

    /// Adds samples of a thread, whose frames are given innermost first: class, dot, method.
    pub(super) fn add<'a>(&mut self, thread: &str, frames: impl Iterator<Item = &'a str>, count: u64, weight: f64) {
        if thread.contains(COLLECTORS) {
            self.collectors += weight;
        }
        if !is_worker(thread) {
            return;
        }
        self.worker += weight;
        self.samples += count;
        let mut has_frames = false;
        let part_of = |frame: &str| self.classes.iter().position(|class| frame.starts_with(class.as_str()));
        match { frames }.inspect(|_| has_frames = true).find_map(part_of) {
            Some(part) => self.parts[part] += weight,
            None if !has_frames => self.lost += weight,
            None => {}
        }
    }

    /// As those of [`Truth`].
    pub(super) fn shares(&self) -> Vec<f64> {
        let parts = self.parts.iter().map(|part| part / self.worker);
        let collectors = self.collectors / (self.collectors + self.worker);
        parts.chain(self.has_collectors.then_some(collectors)).map(|share| 100.0 * share).collect()
    }

    /// Samples of the worker.
    pub(super) fn samples(&self) -> u64 {
        self.samples
    }

    /// Of the worker's time, without any frame; in percent.
    pub(super) fn lost(&self) -> f64 {
        100.0 * self.lost / self.worker
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: &str = "part.split.A=6000000000\npart.split.B=3000000000\nsum=5\nworker=10000000000\n";

    #[test]
    fn the_truth_is_what_the_program_prints() {
        let truth = Truth::of(OUT).unwrap();
        assert_eq!(truth.judged(), ["A", "B"]);
        assert_eq!(truth.shares(), [60.0, 30.0]);
        let truth = Truth::of(&format!("{OUT}threads.GC Thread=10000000000\n")).unwrap();
        assert_eq!(truth.judged(), ["A", "B", "the collector's threads"]);
        assert_eq!(truth.shares(), [60.0, 30.0, 50.0]);
        assert!(Truth::of("sum=5\n").is_err());
    }

    #[test]
    fn a_sample_is_of_the_innermost_part() {
        let mut profile = Profile::new(&Truth::of(OUT).unwrap());
        let mut add = |thread: &str, frames: &[&str]| profile.add(thread, frames.iter().copied(), 1, 1.0);
        add("worker", &["java.lang.String.indexOf", "split.A.run", "split.B.run"]);
        add("worker", &["split.B.run"]);
        add("worker", &["split.AB.run"]);
        add("worker", &[]);
        add("main", &["split.A.run"]);
        assert_eq!(profile.shares(), [25.0, 25.0]);
        assert_eq!((profile.samples(), profile.lost()), (4, 25.0));
    }
}
