//! `classfile` over every class of every JDK here, and of a pile of jars: written as read, and verified when rewritten.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use bci_tests::jdk::{self, Jdk};
use bci_tests::say::say;
use bci_tests::suite::Suite;
use classfile::ClassFile;

use super::support::sites::Sites;
use super::{Linked, Pack, Tools};

pub(super) fn tests(suite: &mut Suite) {
    suite.each_jdk(every_class_links_after_rewriting);
    suite.each_jdk(every_class_is_written_as_it_was_read);
    suite.any_jdk(a_stack_not_raised_is_seen_by_the_verifier);
    let (jdk, jars) = (jdk::any(), jars());
    let name =
        format!("rewriting::real_classes::jars_are_written_as_read_and_link_after_rewriting::jdk{}", jdk.feature);
    if jars.is_empty() {
        suite.skip(name, "no jars in /usr/share/java, /usr/share/maven-repo or ~/.m2");
    } else {
        // The covering set has the JDK's own classes, which are more.
        suite.add_where(false, name, move || jars_are_written_as_read_and_link_after_rewriting(jdk, &jars));
    }
}

fn every_class_is_written_as_it_was_read(jdk: &Jdk) {
    let count = assert_identity(&Tools::get().pack_image(jdk));
    assert!(count > 5_000, "an image of {count} classes is no JDK");
}

fn every_class_links_after_rewriting(jdk: &Jdk) {
    let tools = Tools::get();
    let pack = tools.pack_image(jdk);
    let (replacements, sites) = rewrite_all(&pack);
    let file = tools.write_replacements(&format!("image-{}.new", jdk.version), &replacements);
    let linked = tools.link(jdk, &pack, Some(&file), &[]);
    assert_eq!(linked.broken, BTreeMap::new());
    assert!(linked.absent.is_empty(), "{:?}", linked.absent);
    assert!(linked.linked > 5_000);
    assert!(linked.calls.len() == 3 && linked.calls.values().all(|&calls| calls > 10_000), "{:?}", linked.calls);
    say(&format!("JDK {jdk}: {} classes verified with {sites} insertions", linked.linked));
}

/// Shows that the test above would see an error: it does when the insertions' stack is forgotten.
fn a_stack_not_raised_is_seen_by_the_verifier(jdk: &Jdk) {
    let tools = Tools::get();
    let pack = tools.pack_image(jdk);
    // Only classes that the JVM does not need itself, so that it lives to report what is wrong.
    let is_xml = |class: &[u8]| ClassFile::parse(class).unwrap().name().starts_with(b"com/sun/org/apache/");
    let (mut replacements, _) = rewrite_all(&pack);
    let mut lowered = 0;
    for (class, replacement) in pack.classes().zip(&mut replacements) {
        match replacement {
            Some(new) if is_xml(class) => lowered += lower_stacks(class, new),
            _ => *replacement = None,
        }
    }
    assert!(lowered > 100, "{lowered} methods have a deeper stack");
    let file = tools.write_replacements("lowered.new", &replacements);
    let linked = tools.link(jdk, &pack, Some(&file), &[]);
    assert!(linked.broken.len() > 30, "{:?}", linked.broken);
    assert!(linked.broken.values().all(|why| why.contains("Operand stack overflow")), "{:?}", linked.broken);
}

fn jars_are_written_as_read_and_link_after_rewriting(jdk: &Jdk, jars: &[PathBuf]) {
    let tools = Tools::get();
    let pack = tools.pack(jdk, "jars", jars);
    let count = assert_identity(&pack);
    let (replacements, sites) = rewrite_all(&pack);
    let file = tools.write_replacements("jars.new", &replacements);
    let before = tools.link(jdk, &pack, None, jars);
    let after = tools.link(jdk, &pack, Some(&file), jars);
    // Jars of one pile miss classes of others; what does not link as it is does not count.
    let outcome = |l: &Linked| (l.linked, l.broken.clone(), l.absent.clone());
    assert_eq!(outcome(&after), outcome(&before));
    say(&format!(
        "{} jars: {count} classes read and written without a difference, {} verified with {sites} insertions, \
         {} do not load as they are",
        jars.len(),
        after.linked,
        before.absent.len() + before.broken.len(),
    ));
}

fn assert_identity(pack: &Pack) -> usize {
    let mut count = 0;
    for class in pack.classes() {
        let parsed = ClassFile::parse(class).unwrap();
        assert!(parsed.to_bytes() == class, "{} is written differently", parsed.name().escape_ascii());
        count += 1;
    }
    count
}

/// Rewrites each class at all its sites, and sees to it that none is refused.
fn rewrite_all(pack: &Pack) -> (Vec<Option<Vec<u8>>>, u64) {
    let mut sites = Sites::all();
    let mut inserted = 0;
    let mut rewrite = |class| {
        let done = classfile::rewrite(class, &mut sites).unwrap();
        assert_eq!(done.refused, []);
        inserted += u64::from(done.inserted_sites);
        done.bytes
    };
    let replacements = pack.classes().map(&mut rewrite).collect();
    (replacements, inserted)
}

/// Puts the old stack depths into a rewritten class; returns how many methods that changes.
fn lower_stacks(old: &[u8], new: &mut [u8]) -> usize {
    let old = ClassFile::parse(old).unwrap();
    let mut places = Vec::new();
    for (before, after) in old.methods().zip(ClassFile::parse(new).unwrap().methods()) {
        if let (Some(before), Some(after), Some(attribute)) =
            (before.code(), after.code(), after.attributes().find(|a| a.name == b"Code"))
            && before.max_stack() != after.max_stack()
        {
            places.push((attribute.offset, before.max_stack()));
        }
    }
    for &(at, stack) in &places {
        new[at..at + 2].copy_from_slice(&stack.to_be_bytes());
    }
    places.len()
}

/// The jars that this machine happens to have, links to them left out.
fn jars() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".m2"));
    let mut open = vec![PathBuf::from("/usr/share/java"), PathBuf::from("/usr/share/maven-repo")];
    open.extend(home);
    let mut jars = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() && entry.path().extension().is_some_and(|extension| extension == "jar") {
                jars.push(entry.path());
            }
        }
    }
    jars.sort();
    jars
}
