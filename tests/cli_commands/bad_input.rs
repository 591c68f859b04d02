//! Input that is no trace, or not all of one: a sentence, the right status, and never a panic.

use std::io::Write;

use ::trace::file;

use crate::support::{run, text, trace, written};

/// Runs `stats` and `validate` on a file and gives their ends.
fn both(contents: &[u8]) -> [crate::support::Ended; 2] {
    let file = written(contents);
    let path = file.path();
    [run(&["stats", path]), run(&["validate", path])]
}

#[test]
fn what_cannot_be_read_is_named_with_its_reason() {
    for command in ["stats", "validate"] {
        for (path, part) in [("/no/such/trace", "No such file"), ("/", "directory")] {
            let ended = run(&[command, path]);
            assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{command} {path}");
            assert!(ended.err.starts_with("martini: cannot open the trace "), "{}", ended.err);
            assert!(ended.err.contains(path) && ended.err.contains(part), "{}", ended.err);
            assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
        }
    }
}

#[test]
fn files_that_are_no_traces_are_refused() {
    let junk: Vec<u8> = (0..5000_u32).map(|i| (i * 7919 % 251) as u8).collect();
    let class_file = b"\xCA\xFE\xBA\xBE\0\0\0\x34\0\x0F";
    let inputs: [&[u8]; 6] = [b"", &junk, class_file, b"hello\n", b"PK\x03\x04", b"\x1F\x8B\x08"];
    for contents in inputs {
        for ended in both(contents) {
            assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{contents:?}");
            assert!(ended.err.starts_with("martini: cannot read "), "{}", ended.err);
            assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
        }
    }
}

#[test]
fn files_of_known_formats_are_named_with_what_reads_them() {
    let utf16: Vec<u8> = text("heap.trcxml").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xFF\xFE".as_slice(), &utf16].concat();
    let inputs: [(&[u8], &str); 6] = [
        (b"JAVA PROFILE 1.0.2\0\0\0\0\x08", "a heap dump (HPROF); open it with `martini heap`"),
        (b"JAVA PROFILE 1.0.3\0\0\0\0\x04", "an unsupported version; try Eclipse MAT"),
        (b"FLR\0\0\x02\0\0\0\0\0\0", "JDK Flight Recorder recording; convert it with `martini import`"),
        (&utf16, "text in UTF-16; convert it with `iconv"),
        (&marked, "text in UTF-16; convert it with `iconv"),
        (b"\x1F\x8B\x08", "the gzip header is broken; check the file with `gzip -t`"),
    ];
    for (contents, part) in inputs {
        for ended in both(contents) {
            assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{part}");
            assert!(ended.err.starts_with("martini: cannot read ") && ended.err.contains(part), "{}", ended.err);
        }
    }
}

#[test]
fn xml_of_another_kind_is_no_trace() {
    let [stats, validate] = both(b"<html><body class=\"x\"/></html>");
    assert_eq!(stats.status, 2);
    assert!(stats.err.contains("is XML, but not a trace"), "{}", stats.err);
    assert_eq!(validate.status, 1);
}

#[test]
fn a_trace_cut_anywhere_is_read_up_to_there() {
    let whole = text("heap.trcxml").replace("server=standalone", "JPIAgent:server=standalone");
    let begin = whole.find("<objAlloc").unwrap();
    for cut in (begin..whole.len() - 10).step_by(97) {
        let [stats, validate] = both(&whole.as_bytes()[..cut]);
        assert_eq!((stats.status, stats.err.as_str()), (0, ""), "cut at {cut}");
        assert_eq!((validate.status, validate.err.as_str()), (1, ""), "cut at {cut}");
        let complete = &whole[..cut].contains("<traceEnd time=\"1767606401.500000000\"/>");
        assert_eq!(stats.out.contains("cut off, as when the JVM"), !complete, "cut at {cut}: {}", stats.out);
    }
}

#[test]
fn a_trace_of_tptp_without_end_is_not_called_cut_off() {
    let open = text("heap.trcxml").split("<traceEnd").next().unwrap().to_owned();
    let [stats, _] = both(open.as_bytes());
    let note = "note: the trace has no end tag, as often with other profilers; something may be missing";
    assert!(stats.out.contains(note) && !stats.out.contains("cut off"), "{}", stats.out);
    let counted = open + "<martiniCount key=\"classes.rewritten\" value=\"1\"/>\n";
    let [stats, _] = both(counted.as_bytes());
    assert!(stats.out.contains("cut off, as when the JVM") && !stats.out.contains("end tag"), "{}", stats.out);
}

#[test]
fn a_trace_that_is_being_written_is_not_called_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.trcxml");
    let mut new = file::create(&path, file::TRACE, file::IfTaken::Replace).unwrap();
    let counts = text("counts.trcxml");
    new.file.write_all(counts.split("<allocCount").next().unwrap().as_bytes()).unwrap();
    for command in ["stats", "threads"] {
        let ended = run(&[command, path.to_str().unwrap()]);
        assert!(ended.out.contains("note: the trace is still being written; the numbers"), "{}", ended.out);
        assert!(!ended.out.contains("as when the JVM"), "{}", ended.out);
    }
    let growing = run(&["stats", path.to_str().unwrap()]).out;
    assert!(growing.contains("and the trace is still being written; wait, or use a shorter every="), "{growing}");
}

#[test]
fn a_malformed_element_is_left_out_and_noted() {
    let broken = text("heap.trcxml").replace("size=\"1040\"", "size=\"many\"");
    let [stats, validate] = both(broken.as_bytes());
    assert_eq!(stats.status, 0);
    assert!(stats.out.contains("3 objects (56 B) allocated"), "{}", stats.out);
    assert!(
        stats.out.contains("note: 1 element is malformed and not counted; the first is at line 29"),
        "{}",
        stats.out
    );
    assert_eq!(validate.status, 1);
}

#[test]
fn undefined_and_reused_ids_are_tolerated_and_noted() {
    let strange = text("heap.trcxml")
        .replace("objId=\"12\" classIdRef=\"10\"", "objId=\"11\" classIdRef=\"500\"")
        .replace("objFree objIdRef=\"11\"", "objFree objIdRef=\"501\"");
    let [stats, _] = both(strange.as_bytes());
    assert_eq!(stats.status, 0);
    assert!(stats.out.contains("(undefined class 500)"), "{}", stats.out);
    for note in [
        "note: 1 id of a class, thread, method or stack is used without a definition",
        "note: 1 death is reported for objects whose allocation is not in the trace",
        "note: 1 object id is reused while the object lives; the older object counts as collected",
    ] {
        assert!(stats.out.contains(note), "{note}: {}", stats.out);
    }
}

#[test]
fn a_zip_damaged_in_the_middle_is_noted() {
    // A stored entry whose checksum does not match.
    let body = text("heap.trcxml");
    let mut zip = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0".to_vec();
    zip.extend_from_slice(&[1, 2, 3, 4]);
    zip.extend_from_slice(&(body.len() as u32).to_le_bytes());
    zip.extend_from_slice(&(body.len() as u32).to_le_bytes());
    zip.extend_from_slice(&[1, 0, 0, 0]);
    zip.push(b't');
    zip.extend_from_slice(body.as_bytes());
    let [stats, validate] = both(&zip);
    assert_eq!(stats.status, 0);
    assert!(stats.out.contains("4 objects"), "{}", stats.out);
    assert!(stats.out.contains("note: only a part of the trace could be read: "), "{}", stats.out);
    assert_eq!(validate.status, 1);
}

#[test]
fn wrong_options_are_usage_errors() {
    let heap = trace("heap.trcxml");
    for arguments in [
        &["stats"][..],
        &["stats", "--by", "colour", &heap],
        &["stats", "--sort", "colour", &heap],
        &["stats", "--top", "-1", &heap],
        &["stats", "--filter", "a*b", &heap],
        &["validate"],
        &["nonsense"],
        &["completions", "clay"],
        &["run"],
        &["run", "--no-such-option", "java"],
        &["man", "nonsense"],
        &[],
    ] {
        let ended = run(arguments);
        assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{arguments:?}");
        assert!(!ended.err.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_bad_value_is_answered_with_its_range_and_an_example() {
    let heap = trace("heap.trcxml");
    for (arguments, sentence) in [
        (["stats", "--top", "many"], "give an integer of 0 or more, such as 20"),
        (["validate", "--top", "many"], "give an integer of 0 or more, such as 20"),
        (["heap", "--depth", "-1"], "give an integer of 0 or more, such as 20"),
        (["heap", "--share", "101"], "give a percentage from 0 to 100, such as 2.5"),
        (["heap", "--object", "x"], "give an id, such as 0x7f1c2d30 or 4711"),
        (["locks", "--from", "soon"], "give seconds, such as 12.5"),
        (["stats", "--sort", "size"], "active-size, survived, total-size"),
        (["stats", "--filter", "a*b"], "write a name such as com.foo.Bar"),
    ] {
        let flag_and_value = format!("{}={}", arguments[1], arguments[2]);
        let ended = run(&[arguments[0], &flag_and_value, &heap]);
        assert!(ended.status == 2 && ended.err.contains(sentence), "{arguments:?}: {}", ended.err);
    }
}

#[test]
fn a_full_output_is_an_error() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let ended =
        crate::support::martini().args(["stats", "--json", &trace("heap.trcxml")]).stdout(full).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    let err = String::from_utf8(ended.stderr).unwrap();
    assert!(err.contains("No space left"), "{err}");
}

#[test]
fn a_bad_file_among_good_ones_is_named_and_the_others_are_shown() {
    let [heap, dump] = ["heap.trcxml", "dump.trcxml"].map(trace);
    for command in ["stats", "tree", "locks", "threads", "heap"] {
        let list = if command == "heap" { "dumps" } else { "traces" };
        let good_1 = if command == "heap" { &dump } else { &heap };
        let files = [good_1, "/no/such/file", &dump];
        let ended = run(&[&[command], &files[..]].concat());
        assert_eq!(ended.status, 2, "{command}");
        for good in [good_1, &dump] {
            assert!(ended.out.contains(good.as_str()), "{command}: {}", ended.out);
        }
        assert!(ended.err.contains("/no/such/file") && ended.err.lines().count() == 1, "{command}: {}", ended.err);

        let as_json = run(&[&[command, "--json"], &files[..]].concat());
        assert_eq!((as_json.status, &as_json.err), (2, &ended.err), "{command}");
        let json: serde_json::Value = serde_json::from_str(&as_json.out).unwrap();
        let shown = json[list].as_array().unwrap();
        assert!(shown[0]["error"].is_null() && shown[2]["error"].is_null(), "{command}");
        let paths: Vec<_> = shown.iter().map(|file| file["path"].as_str().unwrap()).collect();
        assert_eq!(paths, files, "{command}");
        assert_eq!(format!("martini: {}\n", shown[1]["error"].as_str().unwrap()), ended.err, "{command}");
    }
}
