//! Whose code is it? Which frame of a stack is the one that its reader can change.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use trace::filter::Pattern;

use crate::symbols::{ClassIndex, SiteIndex, Symbols};

/// Packages that are hardly ever the user's own.
const LIST: &str = include_str!("runtimes.txt");

/// In the names of classes that frameworks make of the user's: their frames have no lines.
const MADE_BY_FRAMEWORKS: [&str; 4] = ["$$EnhancerBy", "$$FastClassBy", "$$SpringCGLIB", "$HibernateProxy$"];
/// At the end of the names of classes that the JDK makes of lambdas; see [`generated`](crate::generated).
const LAMBDA: &str = "$$Lambda";

/// How far a class is from being the user's own; the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    /// The user says that it is.
    Own,
    /// It is nothing that is known.
    Unknown,
    /// A runtime, framework or library that many use.
    Runtime,
    /// A tool or library of the JDK.
    Jdk,
    /// What the rest of the JDK stands on.
    Core,
}

/// Names the line of a stack that its reader can change.
#[derive(Debug, Default)]
pub struct OwnCode {
    own: Vec<Pattern>,
    known: FxHashMap<ClassIndex, Distance>,
}

impl OwnCode {
    /// With these patterns for classes that are the user's own. Without one, all that is neither of the JDK nor a known runtime is.
    pub fn new(own: Vec<Pattern>) -> Self {
        OwnCode { own, known: FxHashMap::default() }
    }

    /// Whether a class is as near to being the user's own as one can be: in front of its frames no other one is named.
    pub fn is_nearest(&self, class: &str) -> bool {
        let nearest = if self.own.is_empty() { Distance::Unknown } else { Distance::Own };
        distance(&self.own, class) == nearest
    }

    /// Which of the classes of a stack's frames, innermost first, is the first of those that are nearest to being the user's own.
    pub(crate) fn nearest<'c>(&self, classes: impl Iterator<Item = &'c str>) -> Option<usize> {
        let places = classes.enumerate().map(|(place, class)| (distance(&self.own, class), place));
        places.min().map(|(_, place)| place)
    }

    /// Of which package of the JDK, or of a runtime that is known, a class is; `None` if it may be the user's own.
    pub fn known_package(&self, class: &str) -> Option<&'static str> {
        if self.own.iter().any(|pattern| pattern.matches(class)) {
            return None;
        }
        let packages = class.match_indices('.').map(|(at, _)| &class[..at]);
        packages.filter_map(|package| list().get_key_value(package).map(|(&package, _)| package)).next()
    }

    /// Of frames, innermost first: the innermost of those that are nearest to being the user's own.
    pub(crate) fn frame(&mut self, frames: &[SiteIndex], symbols: &Symbols) -> Option<SiteIndex> {
        // Of several that are equally near it is the first.
        frames.iter().copied().min_by_key(|&site| {
            let class = symbols.method_name(symbols.site_name(site).method).class;
            *self.known.entry(class).or_insert_with(|| distance(&self.own, &symbols.class_name(class).name))
        })
    }
}

/// Whether a class, or the class of a frame, is of the JDK.
pub fn is_jdk(class: &str) -> bool {
    distance(&[], class) >= Distance::Jdk
}

fn distance(own: &[Pattern], class: &str) -> Distance {
    if own.iter().any(|pattern| pattern.matches(class)) {
        return Distance::Own;
    }
    if class.ends_with(LAMBDA) {
        return Distance::Core;
    }
    if MADE_BY_FRAMEWORKS.iter().any(|made| class.contains(made)) {
        return Distance::Runtime;
    }
    let packages = class.match_indices('.').map(|(at, _)| &class[..at]);
    packages.filter_map(|package| list().get(package).copied()).max().unwrap_or(Distance::Unknown)
}

fn list() -> &'static FxHashMap<&'static str, Distance> {
    static PACKAGES: OnceLock<FxHashMap<&str, Distance>> = OnceLock::new();
    PACKAGES.get_or_init(|| {
        let mut distance = Distance::Unknown;
        let lines = LIST.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let packages = lines.filter_map(|line| {
            distance = match line {
                "[core]" => Distance::Core,
                "[jdk]" => Distance::Jdk,
                "[runtimes]" => Distance::Runtime,
                package => return Some((package, distance)),
            };
            None
        });
        packages.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(own: &[&str], frames: &[&str]) -> String {
        let mut symbols = Symbols::default();
        let frames: Vec<_> = frames.iter().map(|class| symbols.site_named(class, "run")).collect();
        let own = own.iter().map(|pattern| pattern.parse().unwrap()).collect();
        let frame = OwnCode::new(own).frame(&frames, &symbols);
        frame.map_or_else(String::new, |frame| symbols.location(frame).class.to_owned())
    }

    #[test]
    fn the_innermost_frame_outside_of_what_is_known_is_the_users_own() {
        let request =
            ["java.util.Arrays", "com.fasterxml.jackson.A", "shop.Cart", "shop.Main", "org.springframework.B"];
        assert_eq!(named(&[], &request), "shop.Cart");
        assert_eq!(named(&["*Main"], &request), "shop.Main");
        assert_eq!(named(&["nobody.*"], &request), "shop.Cart");
        assert_eq!(named(&["java.util.*"], &request), "java.util.Arrays");
        assert_eq!(named(&[], &[]), "");
    }

    #[test]
    fn a_tool_is_named_by_who_called_it() {
        let build =
            ["java.util.Arrays", "com.sun.tools.javac.Main", "org.codehaus.plexus.Javac", "org.apache.maven.Mojo"];
        assert_eq!(named(&[], &build), "org.codehaus.plexus.Javac");
        // What was made of a lambda has no lines.
        assert_eq!(named(&[], &["java.lang.Integer", "shop.Main$$Lambda", "java.util.Map", "shop.Main"]), "shop.Main");
        assert_eq!(named(&[], &["shop.Cart$$SpringCGLIB$$0", "shop.Main"]), "shop.Main");
        // Nobody did.
        assert_eq!(named(&[], &build[..2]), "com.sun.tools.javac.Main");
        assert_eq!(named(&[], &["jdk.internal.misc.Unsafe", "java.lang.String"]), "jdk.internal.misc.Unsafe");
    }

    #[test]
    fn what_is_known_is_known_by_its_package() {
        let own = OwnCode::new(vec!["org.springframework.samples.*".parse().unwrap()]);
        assert_eq!(own.known_package("java.util.Arrays"), Some("java"));
        assert_eq!(own.known_package("org.springframework.beans.A"), Some("org.springframework"));
        assert_eq!(own.known_package("org.springframework.samples.A"), None);
        assert_eq!(own.known_package("shop.Main"), None);
        assert!(own.is_nearest("org.springframework.samples.A") && !own.is_nearest("shop.Main"));
        assert!(OwnCode::default().is_nearest("shop.Main") && !OwnCode::default().is_nearest("java.util.Arrays"));
    }

    #[test]
    fn only_whole_packages_count() {
        assert_eq!(distance(&[], "playground.Main"), Distance::Unknown);
        assert_eq!(distance(&[], "Main"), Distance::Unknown);
        assert_eq!(distance(&[], "play.Main"), Distance::Runtime);
        assert!(is_jdk("java.lang.String") && is_jdk("com.sun.tools.javac.Main") && !is_jdk("kotlin.A"));
        assert_eq!(distance(&[], "jdk.internal.misc.Unsafe"), Distance::Core);
    }

    #[test]
    fn the_list_names_each_package_once_and_in_order() {
        let packages: Vec<&str> =
            LIST.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '['])).collect();
        assert!(packages.len() > 100 && packages.len() == list().len());
        assert!(packages.iter().all(|package| package.chars().all(|c| c.is_ascii_alphanumeric() || c == '.')));
        for group in LIST.split(['#', '[']).skip(1) {
            let lines: Vec<&str> = group.lines().skip(1).filter(|line| !line.is_empty()).collect();
            assert!(lines.is_sorted(), "{lines:?}");
        }
    }
}
