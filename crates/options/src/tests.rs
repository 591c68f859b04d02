use std::path::PathBuf;
use std::time::Duration;

use trace::file::IfTaken;

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
fn a_name_that_was_typed_is_kept() {
    for (given, if_taken) in [
        ("", IfTaken::Next),
        ("file=t-%p.trcxml", IfTaken::Next),
        ("file=t.trcxml", IfTaken::Replace),
        ("JPIAgent:server=standalone,file=trace.trcxml;HeapProf", IfTaken::Replace),
    ] {
        assert_eq!(parse(given).unwrap().file_if_taken, if_taken, "{given}");
    }
}

#[test]
fn what_is_not_understood_is_named() {
    for (given, sentence) in [
        ("foo=1", "unknown option 'foo': the options are heap, lifetimes,"),
        ("foo", "unknown option 'foo'"),
        ("file", "option 'file' has no value: write file=PATH, a file path, such as app-%p.trcxml"),
        ("file=", "option 'file' does not take ''"),
        ("heap=maybe", "option 'heap' does not take 'maybe': it takes events|counts|vm|off"),
        ("juc", "option 'juc' has no value: write juc=on|off"),
        ("locks=true", "option 'locks' does not take 'true': it takes on|off"),
        ("threads=true", "option 'threads' does not take 'true': it takes on|off"),
        ("threads=on,locks=on", "options 'threads' and 'locks' mean the same: remove 'threads'"),
        ("threads=on,threads=on", "option 'threads' is given twice"),
        ("lockstack=65", "option 'lockstack' does not take '65'"),
        ("locklog=", "option 'locklog' does not take ''"),
        ("dump=now", "option 'dump' does not take 'now': it takes end|oom|gc:N|request"),
        ("dumpformat=text", "it takes hprof|xml"),
        ("dumpcontents=some", "it takes full|zero"),
        ("limit=none", "option 'limit' does not take 'none': it takes SIZE in bytes, 1 or more, such as 2g"),
        ("limit=0", "option 'limit' does not take '0'"),
        ("allocsites=yes", "it takes true|false"),
        ("stack=65", "option 'stack' does not take '65': it takes DEPTH, 0 to 64 frames, such as 16"),
        ("stack=-1", "option 'stack' does not take '-1'"),
        ("buffer=65535", "option 'buffer' does not take '65535': it takes SIZE, 64k to "),
        ("buffer=1048576g", "such as 256m"),
        ("dump=gc", "where N is 1 or more, such as oom+end or gc:20"),
        ("buffer=99999999999999999999g", "option 'buffer' does not take"),
        ("file=a,file=b", "option 'file' is given twice"),
        ("callers=512k", "option 'callers' requires heap=counts"),
        ("estimate=512k", "option 'estimate' requires heap=counts"),
        ("callers=16k,stack=8", "options 'callers' and 'stack' exclude each other"),
        ("every=60", "option 'every' requires heap=counts or sampled"),
        (
            "heap=counts,every=-1",
            "option 'every' does not take '-1': it takes SECONDS, an integer from 0 to 4294967295, such as 10",
        ),
        ("heap=counts,callers=8g", "it takes SIZE|off, 1 to 1g bytes, such as 512k"),
        ("heap=counts,callers=0", "option 'callers' does not take '0'"),
        ("heap=counts,estimate=1k,callers=off", "options 'estimate' and 'callers' mean the same: remove 'estimate'"),
        ("include=a*b", "option 'include': \"a*b\" is not a filter pattern; write a name"),
        ("filters=/no/such/file", "option 'filters': cannot read the filter file /no/such/file"),
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
fn a_buffer_is_no_larger_than_the_machine() {
    let bytes = |given| parse(given).unwrap().buffer_bytes;
    assert_eq!(bytes("buffer=1m"), 1 << 20);
    assert!((1 << 20..1 << 40).contains(&bytes("buffer=1024g")));
}

#[test]
fn callers_are_sampled_or_not() {
    let bytes = |given| parse(given).unwrap().callers_bytes;
    assert_eq!(bytes("heap=counts,callers=1k"), Some(1024));
    assert_eq!(bytes("heap=counts,estimate=4m"), Some(4 << 20));
    assert_eq!(bytes("heap=counts,callers=off"), None);
}

#[test]
fn samplers_alone_leave_the_heap_alone() {
    for given in ["cpu=10ms", "wall=20ms", "ttsp=on", "sampled=512k", "warmup=on"] {
        assert_eq!(parse(given).unwrap().heap, HeapMode::Off, "{given}");
    }
    let options = parse("cpu=500us,wall=1s,sampled=1m,heap=counts").unwrap();
    let samples =
        SampleOptions { cpu: Some(Duration::from_micros(500)), wall: Some(Duration::from_secs(1)), ttsp: false };
    assert_eq!((options.heap, options.samples, options.sampled_bytes), (HeapMode::Counts, samples, Some(1 << 20)));
    assert_eq!(
        parse("cpu=off,sampled=off").unwrap(),
        Options { given: "cpu=off,sampled=off".into(), ..Options::default() }
    );
    for refused in
        ["cpu=10", "cpu=10m", "cpu=99us", "cpu=11s", "cpu=-1ms", "cpu=+1ms", "cpu=ms", "wall=999us", "ttsp=1"]
    {
        assert!(parse(refused).is_err(), "{refused}");
    }
    assert_eq!(parse("sampled=512k,every=5").unwrap().every, Duration::from_secs(5));
    for heap in ["vm", "events"] {
        let refusal = parse(&format!("sampled=512k,heap={heap}")).unwrap_err().to_string();
        assert!(refusal.contains("heap=counts"), "{refusal}");
    }
}

#[test]
fn locks_alone_leave_the_heap_alone() {
    assert_eq!(parse("").unwrap().locks, None);
    assert_eq!(parse("locks=off,juc=on").unwrap().locks, None);
    for (given, heap, juc) in [
        ("locks=on", HeapMode::Off, false),
        ("juc=on", HeapMode::Off, true),
        ("locklog=x", HeapMode::Off, false),
        ("locks=on,heap=counts", HeapMode::Counts, false),
        ("threads=on", HeapMode::Off, false),
    ] {
        let options = parse(given).unwrap();
        assert_eq!((options.heap, options.locks.unwrap().juc), (heap, juc), "{given}");
    }
    let locks = parse("locklog=l.txt,lockstack=9,owners=off").unwrap().locks.unwrap();
    let log = Some(PathBuf::from("l.txt"));
    assert_eq!(locks, LockOptions { juc: false, owners: Owners::WithoutStacks, stack_depth: 9, names: true, log });
    assert_eq!(parse("locks=on,owners=jvmti").unwrap().locks.unwrap().owners, Owners::ByJvmti);
}

#[test]
fn the_tptp_spelling_is_understood() {
    let options = parse("JPIAgent:server=standalone,file=x.trcxml;HeapProf:allocsites=true").unwrap();
    assert_eq!(options.file, PathBuf::from("x.trcxml"));
    assert!(options.allocsites);
    assert_eq!(options.heap, HeapMode::Events);
    let options = parse("JPIAgent:server=standalone;HeapProf").unwrap();
    assert_eq!((options.file, options.file_if_taken), (PathBuf::from("trace.trcxml"), IfTaken::Next));
    let options = parse("JPIAgent:server=standalone;ThreadProf").unwrap();
    assert_eq!((options.heap, options.locks), (HeapMode::Off, Some(LockOptions::default())));
    let options = parse("JPIAgent:server=standalone;HeapProf;ThreadProf").unwrap();
    assert_eq!((options.heap, options.locks), (HeapMode::Events, Some(LockOptions::default())));
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

#[test]
fn an_option_that_is_not_given_has_its_default() {
    for option in OPTIONS {
        if let DefaultValue::Value(value) = option.default {
            let heap = if matches!(option.needs, Need::Counts | Need::Totals) { "heap=counts" } else { "" };
            let without = parse(heap).unwrap();
            let with = parse(&format!("{heap},{}", format_pair(option.name, value))).unwrap();
            assert_eq!(
                Options { given: String::new(), ..with },
                Options { given: String::new(), ..without },
                "{option:?}"
            );
        }
    }
}

#[test]
fn every_row_is_complete_and_its_words_and_examples_are_understood() {
    let names: Vec<&str> = OPTIONS.iter().flat_map(|option| option.old.iter().chain([&option.name])).copied().collect();
    for option in OPTIONS {
        let name = option.name;
        assert_eq!(names.iter().filter(|&&other| other == name).count(), 1, "{name} is twice in the table");
        assert!(!option.default.text().is_empty() && !option.examples.is_empty(), "{name}");
        assert!(!option.help.is_empty() && !option.help.ends_with('.'), "{name}");
        assert!(option.more.is_empty() || option.more.ends_with('.'), "{name}");
        let words = option.choices().into_iter().map(|choice| format_pair(name, &choice.word.replace('N', "3")));
        for given in option.examples.iter().map(|&example| example.to_owned()).chain(words) {
            assert!(given.starts_with(&format!("{name}=")), "{given}");
            let heap = if matches!(option.needs, Need::Counts | Need::Totals) { "heap=counts," } else { "" };
            match parse(&format!("{heap}{given}")) {
                Ok(_) | Err(OptionError::FilterFile(_)) => {}
                Err(error) => panic!("{given}: {error}"),
            }
        }
    }
}

#[test]
fn what_a_shell_offers_is_understood() {
    let offered = |name: &str| find(name).unwrap().completions().iter().map(|choice| choice.word).collect::<Vec<_>>();
    assert_eq!(offered("heap"), ["events", "counts", "vm", "off"]);
    assert_eq!(offered("dump"), ["end", "oom", "request", "oom+end", "gc:20"]);
    assert_eq!((offered("locks"), offered("live")), (vec!["on", "off"], vec!["true", "false"]));
    assert!(offered("limit").is_empty() && offered("file").is_empty());
    for option in OPTIONS {
        for word in offered(option.name) {
            parse(&format_pair(option.name, word)).unwrap();
        }
    }
}

#[test]
fn the_table_is_in_the_order_of_its_groups() {
    let mut groups: Vec<Group> = OPTIONS.iter().map(|option| option.group).collect();
    groups.dedup();
    assert_eq!(groups, Group::ALL);
}

#[test]
fn raw_options_are_not_checked_until_they_are_resolved() {
    let mut raw: RawOptions = "file=a.trcxml,nothing=1,locklog=l,,1.txt".parse().unwrap();
    raw.replace_paths(|path| Ok::<_, ()>(format!("/x/{path}"))).unwrap();
    assert_eq!(raw.to_string(), "file=/x/a.trcxml,nothing=1,locklog=/x/l,,1.txt");
    assert_eq!(raw.value("locklog"), Some("/x/l,1.txt"));
    assert!(matches!(raw.resolve(), Err(OptionError::Unknown { name, .. }) if name == "nothing"));
}

#[test]
fn an_option_without_effect_is_named_with_what_it_needs() {
    let sentences = |given: &str| {
        let raw: RawOptions = given.parse().unwrap();
        raw.without_effect(&raw.resolve().unwrap())
    };
    for (given, sentence) in [
        (
            "heap=counts,stack=4",
            "option 'stack' has no effect with heap=counts: write heap=events or heap=vm, or remove it",
        ),
        (
            "locks=on,lifetimes=false",
            "option 'lifetimes' has no effect with heap=off: write heap=events or heap=vm, or remove it",
        ),
        ("lockstack=9", "option 'lockstack' has no effect unless locks are recorded: write locks=on, or remove it"),
        ("dumpformat=xml", "option 'dumpformat' has no effect without a dump: write dump=end, or remove it"),
    ] {
        assert_eq!(sentences(given), [sentence], "{given}");
    }
    for given in
        ["stack=4", "heap=vm,allocsites=true", "juc=on,owners=off", "dump=oom,dumpcontents=zero", "heap=counts,every=5"]
    {
        assert!(sentences(given).is_empty(), "{given}");
    }
}
