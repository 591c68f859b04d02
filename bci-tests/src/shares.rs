//! How the sampler beside the counters divides what three sites in the JDK allocate among a tree of 40 methods that call them, against
//! what these methods make (`bci-tests/java/11/callers/Main.java`).

use std::collections::BTreeMap;

use crate::counted::{Counted, Sampled};
use crate::jdk::Jdk;
use crate::profiled::{Heap, Profiled};

/// What one method makes at one site.
#[derive(Clone, Debug)]
pub struct Share {
    /// The method, and the class of what it makes.
    pub name: String,
    /// Of the bytes of the site: what it makes.
    pub made: f64,
    /// What the samples say.
    pub found: f64,
    /// The standard error of that.
    pub error: f64,
}

impl Share {
    /// How many standard errors the samples are off.
    pub fn off(&self) -> f64 {
        (self.found - self.made).abs() / self.error
    }
}

/// The classes of the arrays, the bytes of an element, and the method in the JDK that makes them.
const SITES: [(&str, u64, &str); 3] = [
    ("double[]", 8, "java.util.Arrays.copyOf"),
    ("long[]", 8, "java.util.BitSet.initWords"),
    ("char[]", 2, "java.io.CharArrayWriter.-init-"),
];
/// Bytes in front of the elements.
const HEADER: u64 = 16;
/// The first letters of the methods of each level of the tree, and how many letters their names have.
const LEVELS: [(&str, usize); 3] = [("a", 2), ("b", 3), ("c", 4)];

/// Runs the program, which makes so many times 380 KB, and returns the share of each method at each site that it calls, itself or by others.
///
/// # Panics
/// If the numbers of a site are not exactly those of the program.
pub fn run(jdk: &Jdk, times: u64) -> Vec<Share> {
    let profiled = Profiled::on(jdk).heap(Heap::Counts).option("callers", "512k").main("callers.Tree");
    let ran = profiled.args(&[times.to_string()]).run_and_read::<Counted>();
    let made = ran.out();
    SITES
        .iter()
        .flat_map(|&(class, element, method)| shares(class, method, &Made::of(&made, class, element), &ran.trace))
        .collect()
}

/// What the program says it made at one site.
#[derive(Default)]
struct Made {
    instances: u64,
    bytes: u64,
    /// By the digits of the method's name.
    by_method: BTreeMap<String, u64>,
}

impl Made {
    fn of(out: &str, class: &str, element: u64) -> Self {
        let mut made = Self::default();
        for line in out.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [method, of, times, length] = words[..] else { panic!("{line}") };
            if of == class {
                let number = |word: &str| word.parse::<u64>().expect("a number");
                let bytes = number(times) * (HEADER + number(length) * element).next_multiple_of(8);
                made.instances += number(times);
                made.bytes += bytes;
                made.by_method.insert(method[1..].to_owned(), bytes);
            }
        }
        made
    }
}

fn shares(class: &str, method: &str, made: &Made, trace: &Counted) -> Vec<Share> {
    let of_site = trace.sites.iter().filter(|(site, _)| site.class == class && site.method == method);
    let (mut instances, mut bytes) = (0, 0);
    of_site.for_each(|(_, sum)| (instances, bytes) = (instances + sum.instances, bytes + sum.bytes));
    assert_eq!((instances, bytes), (made.instances, made.bytes), "{class} at {method}");
    let sampled = |is_in: &dyn Fn(&[String]) -> bool| {
        let samples = trace
            .by_stack
            .iter()
            .filter(|((site, stack), _)| site.class == class && site.method == method && is_in(stack));
        samples.fold(Sampled::default(), |sum, (_, more)| Sampled {
            samples: sum.samples + more.samples,
            bytes: sum.bytes + more.bytes,
            variance: sum.variance + more.variance,
        })
    };
    let all = sampled(&|_| true);
    let methods = LEVELS.iter().flat_map(|&(letter, length)| {
        let digits = made.by_method.keys().map(move |digits| &digits[..length - 1]);
        let names: std::collections::BTreeSet<&str> = digits.collect();
        names.into_iter().map(move |digits| (letter, digits))
    });
    methods
        .map(|(letter, digits)| {
            let frame = format!("callers.Tree.{letter}{digits}:");
            let inside = sampled(&|stack| stack.iter().any(|of| of.starts_with(&frame)));
            let by_it =
                made.by_method.iter().filter(|(of, _)| of.starts_with(digits)).map(|(_, bytes)| bytes).sum::<u64>();
            let (found, error) = ratio(inside, all);
            Share { name: format!("{letter}{digits} {class}"), made: by_it as f64 / made.bytes as f64, found, error }
        })
        .collect()
}

/// A part's share of all, and its standard error: the variances of the part and of the rest are known.
fn ratio(part: Sampled, all: Sampled) -> (f64, f64) {
    let share = part.bytes as f64 / all.bytes as f64;
    let rest = (all.variance - part.variance) as f64;
    let variance = (1.0 - share).powi(2) * part.variance as f64 + share.powi(2) * rest;
    (share, variance.sqrt() / all.bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_all_has_no_error() {
        let all = Sampled { samples: 9, bytes: 900, variance: 10_000 };
        assert_eq!(ratio(all, all), (1.0, 0.0));
        let half = Sampled { samples: 4, bytes: 450, variance: 5_000 };
        let (share, error) = ratio(half, all);
        assert_eq!(share, 0.5);
        assert!((error - 50.0 / 900.0).abs() < 1e-12, "{error}");
    }
}
