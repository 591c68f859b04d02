//! The validator on good traces, and on each way to break one.

mod common;

use trace::reader::TraceReader;
use trace::validate::{DEFAULT_LIMIT, Profile, Report, Rule, Validator, validate};

fn judge(text: &str, profile: Profile) -> Report {
    let mut reader = TraceReader::new(text.as_bytes()).unwrap();
    validate(&mut reader, Validator::new(profile, DEFAULT_LIMIT), |_| ())
}

/// A strict trace around some events, which begin at 10 s and may use thread 1 and class 2.
fn around(events: &str) -> String {
    format!(
        r#"<TRACE>
<node nodeId="n" hostname="h" ipaddress="" timezone="0" time="1.000000000"/>
<processCreate processId="p" pid="1" nodeIdRef="n" time="1.000000000"/>
<agentCreate agentId="a" version="2.000" processIdRef="p" agentName="x" agentType="Profiler" agentParameters="" time="1.000000000"/>
<traceStart traceId="t" agentIdRef="a" time="2.000000000"/>
<option key="FILTERS" value="true"/>
<threadStart threadId="1" time="3.000000000" threadName="main" groupName="main" parentName="system"/>
<classDef name="A" sourceName="" classId="2" time="2.000000000"/>
{events}
<traceEnd time="90.000000000"/>
<agentDestroy agentIdRef="a" time="91.000000000"/>
</TRACE>
"#
    )
}

const ALLOC_5: &str = r#"<objAlloc threadIdRef="1" size="16" objId="5" classIdRef="2" time="10.000000000"/>"#;
const FREE_5: &str = r#"<objFree objIdRef="5" time="21.000000000"/>"#;
const GC_START: &str = r#"<gcStart time="20.000000000"/>"#;
const GC_FINISH: &str = r#"<gcFinish time="30.000000000"/>"#;

/// What the strict profile finds, in order, and whether the lenient one finds anything.
fn assert_breaks(text: &str, rules: &[Rule], lenient_too: bool) {
    let strict = judge(text, Profile::Strict);
    let found: Vec<Rule> = strict.violations.iter().map(|violation| violation.rule).collect();
    assert_eq!(found, rules, "{:#?}", strict.violations);
    assert_eq!(!judge(text, Profile::Lenient).is_valid(), lenient_too, "{:#?}", strict.violations);
}

#[test]
fn good_traces_have_no_violations() {
    for text in common::EXAMPLES {
        let report = judge(text, Profile::Strict);
        assert_eq!(report.violations, []);
        assert_eq!((report.documents, report.truncated), (1, 0));
    }
    assert_breaks(&around(""), &[], false);
    assert_breaks(&around(&[ALLOC_5, GC_START, FREE_5, GC_FINISH].join("\n")), &[], false);
    // A number may come back once it is free, even as another kind of id.
    let again = ALLOC_5.replace("10.0", "40.0");
    assert_breaks(&around(&[ALLOC_5, GC_START, FREE_5, GC_FINISH, &again].join("\n")), &[], false);
}

#[test]
fn elements_are_counted() {
    let report = judge(common::HEAP, Profile::Strict);
    let count = |name: &str| report.elements.get(name).copied();
    assert_eq!(
        (count("objAlloc"), count("objFree"), count("option"), count("objMove")),
        (Some(4), Some(1), Some(7), None)
    );
    assert_eq!(report.elements.values().sum::<u64>(), common::lines(common::HEAP).len() as u64);
}

#[test]
fn jvmpi_traces_are_lenient_ones() {
    assert_eq!(judge(common::JVMPI, Profile::Lenient).violations, []);
    let strict = judge(common::JVMPI, Profile::Strict);
    for rule in [Rule::Ending, Rule::Times, Rule::DefineBeforeUse] {
        assert!(strict.broken.contains_key(&rule), "{rule}");
    }
    assert_eq!(strict.truncated, 1);
}

#[test]
fn every_single_missing_line_of_the_head_and_tail_is_noticed() {
    let lines: Vec<&str> = common::HEAP.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let needed =
            ["<node", "<processCreate", "<agentCreate", "<traceStart", "<traceEnd", "<agentDestroy", "</TRACE", "<gc"];
        let defines = [
            "<threadStart",
            "<classDef",
            "<methodDef",
            "<objAlloc threadIdRef=\"1\" isArray=\"0\" size=\"16\" objId=\"11\"",
        ];
        if needed.iter().chain(&defines).any(|begin| line.starts_with(begin)) {
            let mut rest = lines.clone();
            rest.remove(at);
            assert!(!judge(&rest.join("\n"), Profile::Strict).is_valid(), "without {line}");
        }
    }
}

#[test]
fn heads_and_tails() {
    let good = around("");
    let swapped = good
        .replace("<option key=\"FILTERS\" value=\"true\"/>\n", "")
        .replace("<classDef", "<option key=\"FILTERS\" value=\"true\"/>\n<classDef");
    assert_breaks(&swapped, &[Rule::Head], true);
    let filter = r#"<filter pattern="" mode="INCLUDE" genericPattern="PREFIX" methodPattern="" methodMode="INCLUDE" methodGenericPattern="PREFIX"/>"#;
    assert_breaks(&good.replace("<threadStart", &format!("{filter}\n<threadStart")), &[Rule::Head], true);
    assert_breaks(&good.replace("</TRACE>", "<martiniCount key=\"k\" value=\"1\"/></TRACE>"), &[Rule::Tail], true);
    assert_breaks(&good.replace("<traceEnd time=\"90.000000000\"/>\n", ""), &[Rule::Tail], true);
    assert_breaks(&good.replace("</TRACE>\n", ""), &[Rule::Ending], false);
    assert_breaks(good.split("<traceEnd").next().unwrap(), &[Rule::Ending], false);
    assert_breaks(&good.replace("nodeIdRef=\"n\"", "nodeIdRef=\"m\""), &[Rule::DefineBeforeUse], true);
    assert_breaks(
        &good.replace("agentIdRef=\"a\" time=\"91", "agentIdRef=\"b\" time=\"91"),
        &[Rule::DefineBeforeUse],
        true,
    );
    // Pause and resume.
    let pause = "<traceEnd time=\"40.000000000\"/>\n<traceStart traceId=\"u\" agentIdRef=\"a\" time=\"50.000000000\"/>";
    assert_breaks(&around(pause), &[], false);
    let while_paused = pause.replace('\n', &ALLOC_5.replace("\"10.0", "\"45.0"));
    assert_breaks(&around(&while_paused), &[Rule::Tail], true);
}

#[test]
fn objects() {
    assert_breaks(&around(&[GC_START, FREE_5, GC_FINISH].join("\n")), &[Rule::FreedOnce], true);
    assert_breaks(&around(&[ALLOC_5, GC_START, FREE_5, FREE_5, GC_FINISH].join("\n")), &[Rule::FreedOnce], true);
    assert_breaks(&around(&[ALLOC_5, ALLOC_5].join("\n")), &[Rule::DefinedOnce], true);
    assert_breaks(&around(&[ALLOC_5, FREE_5].join("\n")), &[Rule::FreeInGc], false);
    let wait = r#"<monWait threadIdRef="1" time="40.000000000" objIdRef="5" timeout="0"/><monWaited threadIdRef="1" time="40.000000000" objIdRef="5" timeout="0"/>"#;
    assert_breaks(&around(&[ALLOC_5, wait].join("\n")), &[], false);
    let after_free = [ALLOC_5, GC_START, FREE_5, GC_FINISH, wait].join("\n");
    assert_breaks(&around(&after_free), &[Rule::DefineBeforeUse; 2], false);
}

#[test]
fn collections() {
    assert_breaks(&around(&[GC_START, GC_START, GC_FINISH].join("\n")), &[Rule::GcPairs], true);
    assert_breaks(&around(GC_FINISH), &[Rule::GcPairs], true);
    assert_breaks(&around(GC_START), &[Rule::GcPairs], false);
}

#[test]
fn references() {
    for (attribute, other) in [("threadIdRef=\"1\"", "threadIdRef=\"9\""), ("classIdRef=\"2\"", "classIdRef=\"9\"")] {
        assert_breaks(&around(&ALLOC_5.replace(attribute, other)), &[Rule::DefineBeforeUse], true);
    }
    for extra in ["methodIdRef=\"8\"", "stackIdRef=\"8\""] {
        assert_breaks(&around(&ALLOC_5.replace(" time", &format!(" {extra} time"))), &[Rule::DefineBeforeUse], true);
    }
    let method = r#"<methodDef name="m" signature="()V" methodId="8" classIdRef="2"/>"#;
    let stack = r#"<stackDef stackId="9" frames="8:1 8:2"/>"#;
    let alloc = ALLOC_5.replace(" time", " methodIdRef=\"8\" lineNumber=\"1\" stackIdRef=\"9\" time");
    assert_breaks(&around(&[method, stack, &alloc].join("\n")), &[], false);
    assert_breaks(&around(stack), &[Rule::DefineBeforeUse; 2], true);
    // With the class its methods go, and so do threads with their end.
    let unload = r#"<classUnload classIdRef="2" time="11.000000000"/>"#;
    let use_after = r#"<stackDef stackId="10" frames="8:1"/>"#;
    assert_breaks(&around(&[method, unload, use_after].join("\n")), &[Rule::DefineBeforeUse], true);
    let end = r#"<threadEnd threadIdRef="1" time="5.000000000"/>"#;
    assert_breaks(&around(&[end, ALLOC_5].join("\n")), &[Rule::DefineBeforeUse], true);
    let dump =
        r#"<heapDumpDef heapDumpId="7" time="50.000000000"/><gcRoot heapDumpIdRef="7" objIdRef="5" type="Unknown"/>"#;
    assert_breaks(&around(&[ALLOC_5, dump].join("\n")), &[], false);
    let wrong = dump.replace("IdRef=\"7\"", "IdRef=\"8\"");
    assert_breaks(&around(&[ALLOC_5, &wrong].join("\n")), &[Rule::DefineBeforeUse], true);
}

#[test]
fn zero_is_no_id() {
    assert_breaks(&around(&ALLOC_5.replace("objId=\"5\"", "objId=\"0\"")), &[Rule::DefinedOnce], true);
}

#[test]
fn times() {
    assert_breaks(&around(&ALLOC_5.replace("\"10.0", "\"1.0")), &[Rule::Times], false);
    let late_class = r#"<classDef name="B" sourceName="" classId="3" time="1.500000000"/>"#;
    assert_breaks(&around(&[ALLOC_5, late_class].join("\n")), &[], false);
}

#[test]
fn sleeps_and_processor_times() {
    let sleep = r#"<threadSleep threadIdRef="1" time="10.000000000"/>"#;
    let slept = r#"<threadSlept threadIdRef="1" time="10.000000000"/>"#;
    let cpu = r#"<threadCpu threadIdRef="1" cpuTime="0.500000000" queuedTime="0.200000000" time="10.000000000"/>"#;
    let end = r#"<threadEnd threadIdRef="1" time="11.000000000"/>"#;
    assert_breaks(&around(&[sleep, slept, cpu, sleep, slept, cpu, end].join("\n")), &[], false);
    for pairs in [&[sleep, sleep][..], &[slept], &[sleep, end]] {
        assert_breaks(&around(&pairs.join("\n")), &[Rule::MonitorPairs], false);
    }
    for (from, to) in [("0.5", "0.4"), ("0.2", "0.1")] {
        assert_breaks(&around(&[cpu, &cpu.replace(from, to)].join("\n")), &[Rule::Counts], false);
    }
    let unsaid = cpu.replace(" queuedTime=\"0.200000000\"", "");
    assert_breaks(&around(&[cpu, &unsaid, cpu].join("\n")), &[], false);
    for element in [sleep, slept, cpu] {
        let other = element.replace("Ref=\"1\"", "Ref=\"9\"");
        assert!(around(&other) != around(element));
        let broken = if element == slept {
            vec![Rule::DefineBeforeUse, Rule::MonitorPairs]
        } else {
            vec![Rule::DefineBeforeUse]
        };
        assert_breaks(&around(&other), &broken, true);
    }
}

#[test]
fn samples_of_threads() {
    let function = r#"<functionDef functionId="9" name="write"/>"#;
    let sample = r#"<cpuSample threadIdRef="1" time="1.000000000" cpuTime="0.010000000" functionIdRef="9"/>"#;
    let safepoints = r#"<safepointCount operation="A" count="5" syncTime="0.500000000" totalTime="0.500000000" time="10.000000000"/>"#;
    assert_breaks(&around(&[function, sample, safepoints, safepoints].join("\n")), &[], false);
    assert_breaks(&around(sample), &[Rule::DefineBeforeUse], true);
    assert_breaks(&around(&[function, function].join("\n")), &[Rule::DefinedOnce], true);
    let other = safepoints.replace("\"A\"", "\"B\"").replace("0.5", "0.4");
    assert_breaks(&around(&[safepoints, &other].join("\n")), &[], false);
    let less = safepoints.replace("count=\"5\"", "count=\"4\"");
    assert_breaks(&around(&[safepoints, &less].join("\n")), &[Rule::Counts], false);
    let method = r#"<methodDef name="m" signature="()V" methodId="7" classIdRef="2"/>"#;
    let stack = r#"<stackDef stackId="8" frames="7:1" types="iI"/>"#;
    assert_breaks(&around(&[method, stack].join("\n")), &[Rule::Attributes], false);
}

#[test]
fn counts() {
    let alloc = r#"<allocCount isArray="0" classIdRef="2" instances="5" bytes="80" time="10.000000000"/>"#;
    let thread = r#"<threadCount threadIdRef="1" instances="5" bytes="80" vmBytes="88" time="10.000000000"/>"#;
    let live = r#"<liveCount isArray="0" classIdRef="2" instances="5" bytes="80" time="10.000000000"/>"#;
    assert_breaks(&around(&[alloc, thread, live, alloc, thread].join("\n")), &[], false);
    for (element, from, to) in [
        (alloc, "instances=\"5\"", "instances=\"4\""),
        (alloc, "bytes=\"80\"", "bytes=\"79\""),
        (thread, "instances=\"5\"", "instances=\"4\""),
        (thread, "bytes=\"80\"", "bytes=\"79\""),
        (thread, "vmBytes=\"88\"", "vmBytes=\"87\""),
    ] {
        let less = element.replace(from, to);
        assert_breaks(&around(&[element, &less].join("\n")), &[Rule::Counts], false);
    }
    // Other sites count for themselves, and a JVM that no longer says what it accounts is no fault of the trace.
    let vm = alloc.replace("\"80\"", "\"1\"").replace(" time", " source=\"vm\" time");
    let line = alloc.replace("\"80\"", "\"1\"").replace(" instances", " lineNumber=\"7\" instances");
    assert_breaks(&around(&[alloc, &vm, &line, thread, &thread.replace(" vmBytes=\"88\"", "")].join("\n")), &[], false);
    // A heap may shrink.
    assert_breaks(&around(&[live, &live.replace("\"5\"", "\"4\"")].join("\n")), &[], false);
    for element in [alloc, live] {
        assert_breaks(&around(&element.replace("Ref=\"2\"", "Ref=\"9\"")), &[Rule::DefineBeforeUse], true);
    }
    assert_breaks(
        &around(&alloc.replace(" instances", " methodIdRef=\"8\" instances")),
        &[Rule::DefineBeforeUse],
        true,
    );
    let end = r#"<threadEnd threadIdRef="1" time="11.000000000"/>"#;
    assert_breaks(&around(&[thread, end].join("\n")), &[], false);
    assert_breaks(&around(&[end, thread].join("\n")), &[Rule::DefineBeforeUse, Rule::Times], true);
}

#[test]
fn samples() {
    let method = r#"<methodDef name="m" signature="()V" methodId="8" classIdRef="2"/>"#;
    let stack = r#"<stackDef stackId="9" frames="8:1"/>"#;
    let sample = "<allocSample isArray=\"0\" classIdRef=\"2\" methodIdRef=\"8\" lineNumber=\"1\" stackIdRef=\"9\" \
                  threadIdRef=\"1\" samples=\"2\" instances=\"5\" bytes=\"80\" error=\"50\" time=\"10.000000000\"/>";
    let after = |elements: &[&str]| around(&[&[method, stack], elements].concat().join("\n"));
    assert_breaks(&after(&[sample, sample]), &[], false);
    for (from, to) in [("samples=\"2", "samples=\"1"), ("\"5\"", "\"4\""), ("80", "79"), ("50", "49")] {
        assert_breaks(&after(&[sample, &sample.replace(from, to)]), &[Rule::Counts], false);
        // Another thread, or none, counts for itself.
        let of_none = sample.replace(from, to).replace(" threadIdRef=\"1\"", "");
        assert_breaks(&after(&[sample, &of_none]), &[], false);
    }
    for (id, other) in
        [("Ref=\"2\"", "Ref=\"7\""), ("Ref=\"8\"", "Ref=\"7\""), ("Ref=\"9\"", "Ref=\"7\""), ("Ref=\"1\"", "Ref=\"7\"")]
    {
        assert_breaks(&after(&[&sample.replace(id, other)]), &[Rule::DefineBeforeUse], true);
    }
    let end = r#"<threadEnd threadIdRef="1" time="11.000000000"/>"#;
    assert_breaks(&after(&[sample, end]), &[], false);
    assert_breaks(&after(&[end, sample]), &[Rule::DefineBeforeUse, Rule::Times], true);
}

#[test]
fn monitors() {
    let enter = r#"<monContendedEnter threadIdRef="1" time="40.000000000" objIdRef="5"/>"#;
    let entered = r#"<monContendedEntered threadIdRef="1" time="41.000000000" objIdRef="5"/>"#;
    let pair = |events: &[&str]| around(&[&[ALLOC_5], events].concat().join("\n"));
    assert_breaks(&pair(&[enter, entered]), &[], false);
    // A thread may be blocked when the trace ends.
    assert_breaks(&pair(&[enter]), &[], false);
    assert_breaks(&pair(&[entered]), &[Rule::MonitorPairs], false);
    assert_breaks(&pair(&[enter, enter]), &[Rule::MonitorPairs], false);
    let end = r#"<threadEnd threadIdRef="1" time="45.000000000"/>"#;
    assert_breaks(&pair(&[enter, end]), &[Rule::MonitorPairs], false);
}

#[test]
fn oddities_break_the_strict_profile_only() {
    assert_breaks(&around("<objMove/>"), &[Rule::Elements], false);
    assert_breaks(&around(&ALLOC_5.replace(" time", " hue=\"1\" time")), &[Rule::Attributes], false);
    assert_breaks(&around(r#"<runtimeShutdown/>"#), &[Rule::Attributes, Rule::Times], false);
    assert_breaks(&around(&ALLOC_5.replace("size=\"16\"", "")), &[Rule::Readable], true);
}

#[test]
fn reports_are_bounded_and_say_where() {
    let many = around(&[FREE_5; 1000].join("\n"));
    let report = judge(&many, Profile::Lenient);
    assert_eq!((report.violations.len(), report.total()), (DEFAULT_LIMIT, 1000));
    let at = many.find(FREE_5).unwrap();
    assert_eq!(
        report.violations[0].to_string(),
        format!("line 9, byte {at}: object 5 is freed, but it was never allocated or is freed already [freed-once]")
    );
    let report = judge(&around(&ALLOC_5.replace("size=\"16\"", "")), Profile::Lenient);
    assert_eq!(report.violations[0].text, "objAlloc: the attribute size is missing");
    let two = format!("{}{}", around(""), around(FREE_5));
    let report = judge(&two, Profile::Lenient);
    assert_eq!(report.documents, 2);
    assert!(report.violations[0].to_string().starts_with("document 2, line "), "{}", report.violations[0]);
    let names: String = (0..1000).map(|n| format!("<e{n}/>")).collect();
    assert!(judge(&names, Profile::Lenient).elements.len() <= 300);
}

#[test]
fn progress_is_shown() {
    let events = [GC_START, GC_FINISH].join("\n").repeat(100_000);
    let text = around(&events);
    let mut reader = TraceReader::new(text.as_bytes()).unwrap();
    let mut shown = Vec::new();
    validate(&mut reader, Validator::new(Profile::Lenient, 0), |reader| shown.push(reader.consumed()));
    assert!(shown.len() > 1 && shown.is_sorted(), "{shown:?}");
}
