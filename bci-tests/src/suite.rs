//! The list of tests of a binary: one test for each JDK, and for each collector or other variant, so that one can be chosen by its
//! name and a failure hides nothing.
//!
//! A test is a function of a JDK, and of a variant if there are any. Its name is the path of the function, followed by the JDK and the
//! variant: `shapes::a_million::jdk17::zgc`. What this machine lacks is listed too, as ignored, with the reason. The standard harness
//! knows its tests when it is compiled, so this one is `libtest-mimic`, which takes the same arguments; but of several words a name must
//! contain all: `cargo test -p bci-tests -- shapes jdk21 zgc`.
//!
//! Not every test runs by default, but a fixed covering set: each test on the oldest and the newest JDK, each variant once, with the
//! JDKs in turn, and whatever depends on the JDK's release on all of them ([`Suite::each_version`], [`Suite::versions`]). All tests run
//! if `MARTINI_FULL` is set; and a word that names a JDK or a variant chooses among all.

use std::cell::RefCell;
use std::fs::OpenOptions;
use std::io::Write;
use std::ops::RangeBounds;
use std::panic;
use std::process::ExitCode;
use std::time::Instant;

use libtest_mimic::{Arguments, Trial};

use crate::jdk::{self, Collector, Jdk};
use crate::say::say;
use crate::{java, martini, workdir};

/// If set, every test runs.
const FULL: &str = "MARTINI_FULL";

/// Whether every test is to run, not only the covering set.
pub fn runs_all() -> bool {
    std::env::var_os(FULL).is_some()
}

/// Names the file to which each test appends a line: `passed` or `failed`, its seconds and name; or `skipped`, what, and why.
const LOG: &str = "MARTINI_TEST_LOG";

thread_local! {
    /// The test that runs on this thread.
    static CURRENT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The tests of one binary.
#[derive(Default)]
pub struct Suite {
    listed: Vec<Listed>,
}

/// A test, and whether it is in the covering set.
struct Listed {
    trial: Trial,
    covers: bool,
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
        let is_exact = arguments.iter().any(|argument| argument == "--exact");
        let all = is_exact || runs_all();
        let trials = suite.chosen(&words, all);
        let arguments = Arguments::from_iter(arguments);
        if !arguments.list {
            // So that the first tests do not wait for the compilers.
            martini::built();
            java::class_path();
            for skipped in trials.iter().filter(|trial| trial.has_ignored_flag()) {
                log(&format!("skipped\t{}\t{}", skipped.name(), skipped.kind()));
            }
        }
        let conclusion = libtest_mimic::run(&arguments, trials);
        workdir::remove_shared();
        conclusion.exit_code()
    }

    /// The tests that have all these words in their names: all of them, or those of the covering set. Says how many these are.
    fn chosen(mut self, words: &[String], all: bool) -> Vec<Trial> {
        self.listed.retain(|listed| words.iter().all(|word| listed.trial.name().contains(word)));
        let names_a_variant = |word: &String| {
            let names = self.listed.iter().map(|listed| listed.trial.name());
            names.filter_map(|name| name.find("::jdk").map(|at| &name[at..])).any(|variant| variant.contains(word))
        };
        if !all && !words.iter().any(names_a_variant) {
            let number = |listed: &[Listed]| listed.iter().filter(|listed| !listed.trial.has_ignored_flag()).count();
            let of = number(&self.listed);
            self.listed.retain(|listed| listed.covers);
            let chosen = number(&self.listed);
            if chosen < of {
                say(&format!("covering set: {chosen} of {of} tests; {FULL}=1 runs all"));
            }
        }
        self.listed.into_iter().map(|listed| listed.trial).collect()
    }

    /// Adds a test for each JDK from 11 on. The covering set has the oldest and the newest.
    pub fn each_jdk(&mut self, test: impl Fn(&'static Jdk) + Copy + Send + 'static) {
        self.jdks(..).each(test);
    }

    /// Adds a test for each JDK from 11 on, all in the covering set: what it shows depends on the release.
    pub fn each_version(&mut self, test: impl Fn(&'static Jdk) + Copy + Send + 'static) {
        self.versions(..).each(test);
    }

    /// Adds a test for every JDK that is here, several of one feature release too: builds differ in what comes with them.
    pub fn every_jdk<F: Fn(&'static Jdk) + Copy + Send + 'static>(&mut self, test: F) {
        for jdk in jdk::all() {
            self.add(format!("{}::jdk{}", name_of::<F>(), jdk.version), move || test(jdk));
        }
    }

    /// Adds a test for each JDK and variant. The covering set has each variant once, and the oldest and the newest JDK.
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
        Jdks { suite: self, features, cover: Cover::Variants }
    }

    /// Only these feature releases, all of them in the covering set: what the test shows depends on the release.
    pub fn versions(&mut self, features: impl RangeBounds<u32>) -> Jdks<'_> {
        Jdks { cover: Cover::All, ..self.jdks(features) }
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
        self.add_where(true, name, test);
    }

    /// Adds a test by its whole name, to the covering set or only to all tests.
    pub fn add_where(&mut self, covers: bool, name: String, test: impl FnOnce() + Send + 'static) {
        let timed = Timed { name: name.clone(), begun: None };
        let trial = Trial::test(name, move || {
            timed.run(test);
            Ok(())
        });
        self.listed.push(Listed { trial, covers });
    }

    /// Lists a test that this machine cannot run, with the reason.
    pub fn skip(&mut self, name: String, reason: &str) {
        self.skip_where(true, name, reason);
    }

    fn skip_where(&mut self, covers: bool, name: String, reason: &str) {
        let kind = reason.to_owned();
        let trial = Trial::test(name, || Ok(())).with_kind(kind).with_ignored_flag(true);
        self.listed.push(Listed { trial, covers });
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
    cover: Cover,
}

/// What the covering set has of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cover {
    /// Each variant once, and the oldest and the newest JDK.
    Variants,
    /// All JDKs and variants.
    All,
    /// The newest JDK, with the first variant.
    Newest,
}

impl Jdks<'_> {
    /// Of these only those.
    #[must_use]
    pub fn of(mut self, features: &[u32]) -> Self {
        self.features.retain(|feature| features.contains(feature));
        self
    }

    /// Since it takes long, the covering set has it on the newest of them only.
    #[must_use]
    pub fn large(mut self) -> Self {
        self.cover = Cover::Newest;
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
        let here: Vec<_> = self.features.iter().filter_map(|&feature| jdk::of(feature)).collect();
        let collectors: Vec<_> = variants.iter().map(|variant| variant.1).collect();
        let fits = |jdk: usize, variant: usize| {
            collectors[variant].is_none_or(|collector: Collector| here[jdk].supports(collector))
        };
        let cover = match self.cover {
            Cover::Variants => cover(here.len(), variants.len(), path.bytes().map(usize::from).sum(), fits),
            Cover::All => {
                (0..here.len()).flat_map(|jdk| (0..variants.len()).map(move |variant| (jdk, variant))).collect()
            }
            Cover::Newest => vec![(here.len().saturating_sub(1), 0)],
        };
        for feature in self.features {
            let place = here.iter().position(|jdk| jdk.feature == feature);
            for (index, &(variant, collector, value)) in variants.iter().enumerate() {
                let separator = if variant.is_empty() { "" } else { "::" };
                let name = format!("{path}::jdk{feature}{separator}{variant}");
                let Some(place) = place else {
                    self.suite.skip_where(self.cover == Cover::All, name, &format!("no JDK {feature}"));
                    continue;
                };
                let jdk = here[place];
                match collector.filter(|&collector| !jdk.supports(collector)) {
                    Some(collector) => {
                        let nowhere = !here.iter().any(|jdk| jdk.supports(collector));
                        let reason = format!("JDK {} has no {collector:?} collector", jdk.version);
                        self.suite.skip_where(self.cover == Cover::All || nowhere, name, &reason);
                    }
                    None => {
                        self.suite.add_where(cover.contains(&(place, index)), name, move || test(jdk, value));
                    }
                }
            }
        }
    }
}

/// Pairs of a JDK and a variant, by their places: each variant once, and the oldest and the newest JDK at least once. `first` is the
/// variant of the oldest JDK, so that of several tests each JDK has other variants.
fn cover(jdks: usize, variants: usize, first: usize, fits: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let ends = [0, jdks.saturating_sub(1)];
    let mut turns: Vec<usize> = ends.into_iter().chain(1..jdks.saturating_sub(1)).take(jdks).collect();
    let mut chosen = Vec::new();
    for step in 0..variants {
        let variant = (first + step) % variants;
        if let Some(at) = turns.iter().position(|&jdk| fits(jdk, variant)) {
            // Whoever was chosen has its next turn last.
            let jdk = turns.remove(at);
            turns.push(jdk);
            chosen.push((jdk, variant));
        }
    }
    for jdk in ends {
        if !chosen.iter().any(|&(of, _)| of == jdk) {
            chosen
                .extend((0..variants).find(|&variant| jdk < jdks && fits(jdk, variant)).map(|variant| (jdk, variant)));
        }
    }
    chosen
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

    #[test]
    fn a_covering_set_has_each_variant_once_and_both_ends() {
        let all = |_, _| true;
        assert_eq!(cover(4, 1, 7, all), [(0, 0), (3, 0)]);
        assert_eq!(cover(4, 2, 1, all), [(0, 1), (3, 0)]);
        assert_eq!(cover(4, 5, 0, all), [(0, 0), (3, 1), (1, 2), (2, 3), (0, 4)]);
        assert_eq!(cover(1, 2, 0, all), [(0, 0), (0, 1)]);
        assert_eq!(cover(0, 2, 0, all), []);
        // The second variant is not for the oldest.
        assert_eq!(cover(4, 2, 1, |jdk, variant| variant == 0 || jdk > 0), [(3, 1), (0, 0)]);
        assert_eq!(cover(2, 2, 1, |jdk, variant| variant == 0 || jdk > 1), [(0, 0), (1, 0)]);
    }
}
