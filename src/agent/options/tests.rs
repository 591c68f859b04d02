use std::path::PathBuf;

use super::*;

#[test]
fn defaults_are_what_help_says() {
    let options = parse("").unwrap();
    assert_eq!(options.file, PathBuf::from("martini-%p.trcxml"));
    assert_eq!(options.format, Format::Xml);
    assert_eq!((options.lifetimes, options.allocsites, options.stack_depth), (true, false, 0));
    assert_eq!((options.heap, options.limit_bytes, options.buffer_bytes), (HeapMode::Events, None, 64 << 20));
    assert!(options.filters.includes("any.Thing"));
}

#[test]
fn include_alone_means_nothing_else() {
    let options = parse("include=com.foo.*").unwrap();
    assert!(options.filters.includes("com.foo.Bar"));
    assert!(!options.filters.includes("java.lang.String"));
    let options = parse("include=com.foo.*,exclude=com.*").unwrap();
    assert!(options.filters.includes("com.foo.Bar"));
    assert!(!options.filters.includes("com.Bar"));
    assert!(options.filters.includes("java.lang.String"));
}

#[test]
fn a_doubled_comma_is_part_of_the_value() {
    let text = format!("heap=events,{}", format_pair("file", "/tmp/a,b,,c.xml"));
    assert_eq!(parse(&text).unwrap().file, PathBuf::from("/tmp/a,b,,c.xml"));
}

#[test]
fn what_is_not_understood_is_named() {
    for (given, sentence) in [
        ("foo=1", "unknown option 'foo': the options are heap, file,"),
        ("foo", "unknown option 'foo'"),
        ("file", "option 'file' has no value: write file=VALUE"),
        ("file=", "option 'file' does not take ''"),
        ("heap=maybe", "option 'heap' does not take 'maybe': it takes events|counts|vm|off"),
        ("threads=true", "option 'threads' does not take 'true': it takes on|off"),
        ("lockstack=65", "option 'lockstack' does not take '65'"),
        ("locklog=", "option 'locklog' does not take ''"),
        ("dump=now", "option 'dump' does not take 'now': it takes end|oom|gc:N|request"),
        ("dumpformat=text", "it takes hprof|xml"),
        ("dumpcontents=some", "it takes full|zero"),
        ("limit=none", "option 'limit' does not take 'none': it takes SIZE"),
        ("limit=0", "option 'limit' does not take '0'"),
        ("allocsites=yes", "it takes true|false"),
        ("stack=65", "option 'stack' does not take '65'"),
        ("stack=-1", "option 'stack' does not take '-1'"),
        ("buffer=0", "option 'buffer' does not take '0'"),
        ("buffer=99999999999999999999g", "option 'buffer' does not take"),
        ("file=a,file=b", "option 'file' is given twice"),
        ("estimate=512k", "option 'estimate' is for heap=counts only"),
        ("every=60", "option 'every' is for heap=counts only"),
        ("heap=counts,every=-1", "option 'every' does not take '-1': it takes SECONDS"),
        ("heap=counts,estimate=8g", "option 'estimate' does not take '8g'"),
        ("include=a*b", "a*b"),
        ("filters=/no/such/file", "/no/such/file"),
    ] {
        let error = parse(given).unwrap_err().to_string();
        assert!(error.contains(sentence), "{given}: {error}");
    }
}

#[test]
fn the_heap_mode_is_one_word() {
    for mode in [HeapMode::Events, HeapMode::Counts, HeapMode::Vm, HeapMode::Off] {
        assert_eq!(parse(&format!("heap={},limit=2k", mode.as_str())).unwrap().heap, mode);
    }
    assert_eq!(parse("limit=2g").unwrap().limit_bytes, Some(2 << 30));
}

#[test]
fn threads_alone_leave_the_heap_alone() {
    assert_eq!(parse("").unwrap().threads, None);
    assert_eq!(parse("threads=off,juc=on").unwrap().threads, None);
    for (given, heap, juc) in [
        ("threads=on", HeapMode::Off, false),
        ("juc=on", HeapMode::Off, true),
        ("locklog=x", HeapMode::Off, false),
        ("threads=on,heap=counts", HeapMode::Counts, false),
    ] {
        let options = parse(given).unwrap();
        assert_eq!((options.heap, options.threads.unwrap().juc), (heap, juc), "{given}");
    }
    let threads = parse("locklog=l.txt,lockstack=9,owners=off").unwrap().threads.unwrap();
    let log = Some(PathBuf::from("l.txt"));
    assert_eq!(threads, ThreadOptions { juc: false, owners: Owners::WithoutStacks, stack_depth: 9, log });
    assert_eq!(parse("threads=on,owners=jvmti").unwrap().threads.unwrap().owners, Owners::ByJvmti);
}

#[test]
fn the_tptp_spelling_is_understood() {
    let options = parse("JPIAgent:server=standalone,file=x.trcxml;HeapProf:allocsites=true").unwrap();
    assert_eq!(options.file, PathBuf::from("x.trcxml"));
    assert!(options.allocsites);
    assert_eq!(options.heap, HeapMode::Events);
    assert_eq!(parse("JPIAgent:server=standalone;HeapProf").unwrap().file, PathBuf::from("trace.trcxml"));
    let options = parse("JPIAgent:server=standalone;ThreadProf").unwrap();
    assert_eq!((options.heap, options.threads), (HeapMode::Off, Some(ThreadOptions::default())));
    let options = parse("JPIAgent:server=standalone;HeapProf;ThreadProf").unwrap();
    assert_eq!((options.heap, options.threads), (HeapMode::Events, Some(ThreadOptions::default())));
    for refused in [
        "JPIAgent:server=standalone;ThreadProf;ThreadProf",
        "JPIAgent:server=standalone;ThreadProf:allocsites=true",
        "JPIAgent:server=enabled;HeapProf",
        "JPIAgent;HeapProf",
        "JPIAgent:server=standalone",
        "JPIAgent:server=standalone;CGProf",
        "JPIAgent:server=standalone,format=binary;HeapProf",
        "JPIAgent:server=standalone;HeapProf:what=1",
    ] {
        assert!(matches!(parse(refused), Err(OptionError::Tptp(..))), "{refused}");
    }
}
