//! Reads what the profilers say of each site.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use bci_tests::counted::Counted;
use bci_tests::jdk;
use trace::ids::{ClassId, MethodId};
use trace::model::{Element, LiveSample};
use trace::reader::{Event, TraceReader};

/// The class of the program, and of all that it makes.
const PROGRAM: &str = "sizes.Sizes.";
const ARRAYS: &str = "byte[]";

/// What was estimated of one site, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Estimate {
    pub(super) bytes: f64,
    /// The square of the standard error, where the profiler states one.
    pub(super) variance: Option<f64>,
}

/// By method.
pub(super) type Estimates = BTreeMap<String, Estimate>;

/// What sampled objects stand for that lived at the end.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Living {
    pub(super) by_site: Estimates,
    /// By site: of the bytes those that had survived a collection.
    pub(super) survivors: BTreeMap<String, f64>,
}

/// What the program made: its lines.
pub(super) fn truth(out: &str) -> BTreeMap<String, f64> {
    let lines = out.lines().filter_map(|line| line.split_once('='));
    lines.filter_map(|(site, bytes)| Some((site.to_owned(), bytes.parse().ok()?))).collect()
}

/// The samples of a trace, and those that lived when it ended.
pub(super) fn martini(file: &Path) -> Result<(Estimates, Living), String> {
    let counted = Counted::read(file);
    let mut estimates = Estimates::new();
    for ((site, _), sampled) in &counted.by_stack {
        let Some(method) = site.method.strip_prefix(PROGRAM).filter(|_| site.class == ARRAYS) else { continue };
        let estimate = estimates.entry(method.to_owned()).or_default();
        estimate.bytes += sampled.bytes as f64;
        *estimate.variance.get_or_insert(0.0) += sampled.variance as f64;
    }
    Ok((estimates, living(file)?))
}

fn living(file: &Path) -> Result<Living, String> {
    let mut reader = TraceReader::open(file).map_err(|e| e.to_string())?;
    let (mut classes, mut methods) = (HashMap::<ClassId, String>::new(), HashMap::<MethodId, String>::new());
    let mut last: Vec<LiveSample> = Vec::new();
    while let Some(event) = reader.next_event().map_err(|e| format!("{}: {e}", file.display()))? {
        let Event::Element { element, .. } = event else { continue };
        match element {
            Element::ClassDef(class) => {
                classes.insert(class.class_id, class.name.replace('/', "."));
            }
            Element::MethodDef(method) => {
                let class = classes.get(&method.class).map_or("", String::as_str);
                methods.insert(method.method_id, format!("{class}.{}", method.name));
            }
            Element::LiveSample(sample) => {
                last.retain(|other| other.time == sample.time);
                last.push(sample);
            }
            _ => {}
        }
    }
    let mut living = Living::default();
    for sample in last {
        let is_array = classes.get(&sample.class).is_some_and(|class| class == ARRAYS);
        let method = sample.method.and_then(|method| methods.get(&method)?.strip_prefix(PROGRAM));
        let Some(method) = method.filter(|_| is_array) else { continue };
        let estimate = living.by_site.entry(method.to_owned()).or_default();
        estimate.bytes += sample.bytes as f64;
        *estimate.variance.get_or_insert(0.0) += (sample.error as f64).powi(2);
        let survivors = if sample.age > 0 { sample.bytes as f64 } else { 0.0 };
        *living.survivors.entry(method.to_owned()).or_default() += survivors;
    }
    Ok(living)
}

/// The collapsed stacks of async-profiler with `total`: the last frame is the class, the one before it the method.
pub(super) fn async_profiler(file: &Path) -> Result<Estimates, String> {
    let file = File::open(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let mut estimates = Estimates::new();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|e| e.to_string())?.replace('/', ".");
        let Some((stack, bytes)) = line.rsplit_once(' ') else { continue };
        let bytes: f64 = bytes.parse().map_err(|_| format!("async-profiler wrote {line:?}"))?;
        let mut frames = stack.rsplit(';');
        let is_array = frames.next().is_some_and(|class| class.starts_with(ARRAYS));
        let method = frames.next().and_then(|frame| frame.strip_prefix(PROGRAM));
        if let Some(method) = method.filter(|_| is_array) {
            estimates.entry(method.to_owned()).or_default().bytes += bytes;
        }
    }
    Ok(estimates)
}

/// The allocation samples of a flight recording, as the JDK's tool prints them.
pub(super) fn flight_recorder(file: &Path) -> Result<Estimates, String> {
    let mut tool = jdk::compiler().tool("jfr");
    tool.args(["print", "--exact", "--events", "jdk.ObjectAllocationSample", "--stack-depth", "1"]).arg(file);
    let mut child = tool.stdout(Stdio::piped()).spawn().map_err(|e| format!("{tool:?} does not start: {e}"))?;
    let out = child.stdout.take().ok_or("no output")?;
    let estimates = printed(BufReader::new(out));
    let status = child.wait().map_err(|e| e.to_string())?;
    if !status.success() {
        return Err(format!("{tool:?} ended with {status}"));
    }
    estimates
}

fn printed(out: impl BufRead) -> Result<Estimates, String> {
    let mut estimates = Estimates::new();
    let (mut is_array, mut weight) = (false, 0.0);
    for line in out.lines() {
        let line = line.map_err(|e| e.to_string())?;
        let words = line.trim();
        if let Some(class) = words.strip_prefix("objectClass = ") {
            is_array = class.starts_with(ARRAYS);
        } else if let Some(bytes) = words.strip_prefix("weight = ") {
            let number = bytes.split(' ').next().and_then(|number| number.parse().ok());
            weight = number.ok_or_else(|| format!("jfr printed {line:?}"))?;
        } else if let Some(method) = words.strip_prefix(PROGRAM).filter(|_| is_array) {
            let method = method.split('(').next().unwrap_or_default();
            estimates.entry(method.to_owned()).or_default().bytes += weight;
        }
    }
    Ok(estimates)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn bytes(estimates: &Estimates) -> Vec<(&str, f64)> {
        estimates.iter().map(|(site, estimate)| (site.as_str(), estimate.bytes)).collect()
    }

    #[test]
    fn only_what_a_site_made_itself_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("out");
        let text = "sizes/Sizes.main;sizes/Sizes.make;sizes/Sizes.s16;byte[]_[i] 1024\n\
                    sizes/Sizes.main;sizes/Sizes.kept;byte[]_[k] 7\nsizes/Sizes.main;sizes/Sizes.kept;byte[]_[i] 1\n\
                    sizes/Sizes.main;sizes/Sizes.kept;java/util/ArrayList.add;java.lang.Object[]_[i] 5\n";
        fs::write(&file, text).expect("a file");
        assert_eq!(bytes(&async_profiler(&file).expect("stacks")), [("kept", 8.0), ("s16", 1024.0)]);
    }

    #[test]
    fn a_recording_is_read_as_it_is_printed() {
        let event = |class: &str, weight: &str| {
            format!(
                "jdk.ObjectAllocationSample {{\n  objectClass = {class} (classLoader = bootstrap)\n  weight = {weight}\n  \
                 eventThread = \"main\" (javaThreadId = 1)\n  stackTrace = [\n    sizes.Sizes.s16(int) line: 87\n    ...\n  ]\n}}\n\n"
            )
        };
        let text = event("byte[]", "16533192 bytes") + &event("char[]", "9 bytes") + &event("byte[]", "8 bytes");
        assert_eq!(bytes(&printed(text.as_bytes()).expect("samples")), [("s16", 16_533_200.0)]);
    }

    #[test]
    fn the_truth_is_what_the_program_prints() {
        assert_eq!(truth("s16=4194304\nhello\nkept=1024\n").len(), 2);
    }
}
