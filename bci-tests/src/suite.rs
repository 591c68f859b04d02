//! The list of tests of a binary: one test for each JDK, and for each collector or other variant, so that one can be chosen by its
//! name and a failure hides nothing.
//!
//! A test is a function of a JDK, and of a variant if there are any. Its name is the path of the function, followed by the JDK and the
//! variant: `shapes::a_million::jdk17::zgc`. What this machine lacks is listed too, as ignored, with the reason. The standard harness
//! knows its tests when it is compiled, so this one is `libtest-mimic`, which takes the same arguments; but of several words a name must
//! contain all: `cargo test -p bci-tests -- shapes jdk21 zgc`.

use std::cell::RefCell;
use std::fs::OpenOptions;
use std::io::Write;
use std::ops::RangeBounds;
use std::panic;
use std::process::ExitCode;
use std::time::Instant;

use libtest_mimic::{Arguments, Trial};

use crate::jdk::{self, Collector, Jdk};
use crate::{java, martini, workdir};

/// Names the file to which each test appends a line: `passed` or `failed`, its seconds and name; or `skipped`, what, and why.
const LOG: &str = "MARTINI_TEST_LOG";

thread_local! {
    /// The test that runs on this thread.
    static CURRENT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The tests of one binary.
#[derive(Default)]
pub struct Suite {
    trials: Vec<Trial>,
}

impl Suite {
    /// Collects what `lists` add, and runs what the command line asks for.
    pub fn run(lists: &[fn(&mut Self)]) -> ExitCode {
        let mut suite = Self::default();
        lists.iter().for_each(|list| list(&mut suite));
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            CURRENT.with_borrow(|test| eprintln!("\n{test}:"));
            usual(info);
        }));
        let (words, arguments) = words(std::env::args());
        suite.trials.retain(|trial| words.iter().all(|word| trial.name().contains(word)));
        let arguments = Arguments::from_iter(arguments);
        if !arguments.list {
            // So that the first tests do not wait for the compilers.
            martini::built();
            java::class_path();
        }
        let conclusion = libtest_mimic::run(&arguments, suite.trials);
        workdir::remove_shared();
        conclusion.exit_code()
    }

    /// Adds a test for each JDK from 11 on.
    pub fn each_jdk(&mut self, test: impl Fn(&'static Jdk) + Copy + Send + 'static) {
        self.jdks(..).each(test);
    }

    /// Adds a test for every JDK that is here, several of one feature release too: builds differ in what comes with them.
    pub fn every_jdk<F: Fn(&'static Jdk) + Copy + Send + 'static>(&mut self, test: F) {
        for jdk in jdk::all() {
            self.add(format!("{}::jdk{}", name_of::<F>(), jdk.version), move || test(jdk));
        }
    }

    /// Adds a test for each JDK and variant.
    pub fn each_jdk_and<V: Copy + Send + 'static>(
        &mut self,
        variants: &[(&'static str, V)],
        test: impl Fn(&'static Jdk, V) + Copy + Send + 'static,
    ) {
        self.jdks(..).each_and(variants, test);
    }

    /// Adds a test for each JDK and collector.
    pub fn each_jdk_and_collector(&mut self, test: impl Fn(&'static Jdk, Collector) + Copy + Send + 'static) {
        self.jdks(..).each_and_collector(test);
    }

    /// Only these feature releases.
    pub fn jdks(&mut self, features: impl RangeBounds<u32>) -> Jdks<'_> {
        let features = jdk::features().into_iter().filter(|feature| features.contains(feature)).collect();
        Jdks { suite: self, features }
    }

    /// Adds a test for the oldest and one for the newest JDK that are here.
    pub fn oldest_and_newest_jdk(&mut self, test: impl Fn(&'static Jdk) + Copy + Send + 'static) {
        let here = jdk::each_feature();
        let ends = [&here[0], here.last().expect("there is one")].map(|jdk| jdk.feature);
        self.jdks(..).of(&ends).each(test);
    }

    /// Adds a test for one JDK, since what it shows is the same on all.
    pub fn any_jdk(&mut self, test: impl Fn(&'static Jdk) + Copy + Send + 'static) {
        self.on(jdk::any(), test);
    }

    /// Adds a test for this JDK.
    pub fn on<F: Fn(&'static Jdk) + Copy + Send + 'static>(&mut self, jdk: &'static Jdk, test: F) {
        self.add(format!("{}::jdk{}", name_of::<F>(), jdk.feature), move || test(jdk));
    }

    /// Adds a test that runs no JVM, or finds its own.
    pub fn once<F: Fn() + Copy + Send + 'static>(&mut self, test: F) {
        self.add(name_of::<F>(), test);
    }

    /// Adds a test by its whole name.
    pub fn add(&mut self, name: String, test: impl FnOnce() + Send + 'static) {
        let timed = Timed { name: name.clone(), begun: None };
        self.trials.push(Trial::test(name, move || {
            timed.run(test);
            Ok(())
        }));
    }

    /// Lists a test that this machine cannot run, with the reason.
    pub fn skip(&mut self, name: String, reason: &str) {
        log(&format!("skipped\t{name}\t{reason}"));
        let reason = reason.to_owned();
        let trial = Trial::test(name, {
            let reason = reason.clone();
            move || Err(reason.into())
        });
        self.trials.push(trial.with_kind(reason).with_ignored_flag(true));
    }
}

/// The words of a command line that choose tests by their names, and the other arguments. A word behind `--skip` and the like is no
/// such word; with `--exact` there is one, for the harness itself.
fn words(arguments: impl Iterator<Item = String>) -> (Vec<String>, Vec<String>) {
    const WITH_VALUE: [&str; 5] = ["--skip", "--test-threads", "--logfile", "--format", "--color"];
    let (mut words, mut others) = (Vec::new(), Vec::new());
    for argument in arguments {
        let is_value = others.last().is_none_or(|before: &String| WITH_VALUE.contains(&before.as_str()));
        if is_value || argument.starts_with('-') { others.push(argument) } else { words.push(argument) }
    }
    if others.iter().any(|argument| argument == "--exact") {
        others.append(&mut words);
    }
    (words, others)
}

/// Some feature releases, each with its JDK if this machine has it.
pub struct Jdks<'a> {
    suite: &'a mut Suite,
    features: Vec<u32>,
}

impl Jdks<'_> {
    /// Of these only those.
    #[must_use]
    pub fn of(mut self, features: &[u32]) -> Self {
        self.features.retain(|feature| features.contains(feature));
        self
    }

    /// Adds a test for each.
    pub fn each<F: Fn(&'static Jdk) + Copy + Send + 'static>(self, test: F) {
        self.add(name_of::<F>(), &[("", None, ())], move |jdk, ()| test(jdk));
    }

    /// Adds a test for each and each variant.
    pub fn each_and<V: Copy + Send + 'static, F: Fn(&'static Jdk, V) + Copy + Send + 'static>(
        self,
        variants: &[(&'static str, V)],
        test: F,
    ) {
        let variants: Vec<_> = variants.iter().map(|&(name, variant)| (name, None, variant)).collect();
        self.add(name_of::<F>(), &variants, test);
    }

    /// Adds a test for each and each collector.
    pub fn each_and_collector<F: Fn(&'static Jdk, Collector) + Copy + Send + 'static>(self, test: F) {
        let variants = Collector::ALL.map(|collector| (collector.name(), Some(collector), collector));
        self.add(name_of::<F>(), &variants, test);
    }

    /// Adds a test for each and each of these collectors and variants.
    pub fn each_with<V: Copy + Send + 'static, F: Fn(&'static Jdk, Collector, V) + Copy + Send + 'static>(
        self,
        variants: &[(&'static str, Collector, V)],
        test: F,
    ) {
        let variants: Vec<_> = variants.iter().map(|&(name, c, variant)| (name, Some(c), (c, variant))).collect();
        self.add(name_of::<F>(), &variants, move |jdk, (collector, variant)| test(jdk, collector, variant));
    }

    fn add<V: Copy + Send + 'static>(
        self,
        path: String,
        variants: &[(&'static str, Option<Collector>, V)],
        test: impl Fn(&'static Jdk, V) + Copy + Send + 'static,
    ) {
        for feature in self.features {
            let jdk = jdk::of(feature);
            for &(variant, collector, value) in variants {
                let separator = if variant.is_empty() { "" } else { "::" };
                let name = format!("{path}::jdk{feature}{separator}{variant}");
                match (jdk, collector) {
                    (None, _) => self.suite.skip(name, &format!("no JDK {feature}")),
                    (Some(jdk), Some(collector)) if !jdk.supports(collector) => {
                        self.suite.skip(name, &format!("JDK {} has no {collector:?} collector", jdk.version));
                    }
                    (Some(jdk), _) => self.suite.add(name, move || test(jdk, value)),
                }
            }
        }
    }
}

/// The path of a function without its crate.
fn name_of<F>() -> String {
    let path = std::any::type_name::<F>();
    assert!(!path.contains('{'), "a test is a function, no closure: {path}");
    path.split_once("::").map_or(path, |(_, path)| path).to_owned()
}

/// A test that logs how long it took, also if it panics.
struct Timed {
    name: String,
    begun: Option<Instant>,
}

impl Timed {
    fn run(mut self, test: impl FnOnce()) {
        CURRENT.set(self.name.clone());
        self.begun = Some(Instant::now());
        test();
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        if let Some(begun) = self.begun {
            let end = if std::thread::panicking() { "failed" } else { "passed" };
            log(&format!("{end}\t{:.1}\t{}", begun.elapsed().as_secs_f64(), self.name));
        }
    }
}

/// Appends a line to the file that `MARTINI_TEST_LOG` names, if it names one.
pub(crate) fn log(line: &str) {
    let Some(path) = std::env::var_os(LOG) else { return };
    let file = OpenOptions::new().create(true).append(true).open(path);
    // One write for a line, so that those of several threads and binaries do not mix.
    let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    written.unwrap_or_else(|e| panic!("{LOG} names no writable file: {e}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> (Vec<String>, Vec<String>) {
        words(line.split(' ').map(str::to_owned))
    }

    fn list(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn words_that_choose_are_no_values_of_options() {
        let (words, others) = split("program shapes --skip zgc jdk17 --test-threads=2 --list");
        assert_eq!(words, list(&["shapes", "jdk17"]));
        assert_eq!(others, list(&["program", "--skip", "zgc", "--test-threads=2", "--list"]));
        assert_eq!(split("program a::b --exact"), (Vec::new(), list(&["program", "--exact", "a::b"])));
    }

    #[test]
    fn a_test_is_named_after_its_function() {
        fn path_of<F: Fn()>(_: F) -> String {
            name_of::<F>()
        }
        assert_eq!(path_of(a_test_is_named_after_its_function), "suite::tests::a_test_is_named_after_its_function");
    }
}
