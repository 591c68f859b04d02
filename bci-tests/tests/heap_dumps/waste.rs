//! Waste of known size, planted between two dumps: reported to the byte, and again by their difference. Packed dumps say the same.

use std::path::Path;
use std::process::Command;

use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::suite::Suite;
use bci_tests::{martini, process};
use serde_json::{Value, json};

use crate::support::{dumped_by_the_jvm, report};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(what_was_planted_is_found);
}

/// The row of a class in a table.
#[track_caller]
fn row<'a>(rows: &'a Value, class: &str) -> &'a Value {
    let found = rows.as_array().expect("an array").iter().find(|row| row["class"] == class);
    found.unwrap_or_else(|| panic!("no {class} in {rows:#}"))
}

/// What was planted, as a dump has it. References take 4 bytes, headers 12, those of arrays 16.
#[track_caller]
fn check_waste(file: &Path) {
    let waste = &report(file, &["--show", "waste"])["waste"];
    let texts = waste["strings"]["duplicates"].as_array().expect("an array");
    let text = texts.iter().find(|text| text["text"] == "planted, many times!").expect("it is there");
    // A string of 24 bytes and an array of 16 + 20, rounded up. The class has one more as a constant.
    assert_eq!((&text["strings"], &text["wasted_bytes"]), (&json!(1001), &json!(1000 * (24 + 40))));
    let rows = json!({
        "class": "waste.Main$Rows", "instances": 310, "empty": 300, "empty_bytes": 300 * (24 + 16 + 16 * 4),
        "sparse": 0, "sparse_bytes": 0,
    });
    assert_eq!(row(&waste["collections"], "waste.Main$Rows"), &rows);
    let index = json!({
        "class": "waste.Main$Index", "instances": 200, "empty": 0, "empty_bytes": 0, "sparse": 200,
        "sparse_bytes": 200 * 63 * 4,
    });
    assert_eq!(row(&waste["collections"], "waste.Main$Index"), &index);
}

/// Boxes of a class: instances, different values, wasted bytes.
#[track_caller]
fn boxes(file: &Path, class: &str) -> [i64; 3] {
    let waste = &report(file, &["--show", "waste"])["waste"];
    let row = row(&waste["boxes"], class);
    ["instances", "distinct", "wasted_bytes"].map(|field| row[field].as_i64().expect("a number"))
}

fn what_was_planted_is_found(jdk: &Jdk) {
    let mut running = Profiled::on(jdk).without_agent().flags(&["-Xmx256m"]).main("waste.Main").start();
    let [before, after, packed] = ["before.hprof", "after.hprof", "after.hprof.gz"].map(|name| running.dir.join(name));
    running.wait_for("before");
    dumped_by_the_jvm(jdk, running.pid(), &before);
    running.send("");
    running.wait_for("held");
    dumped_by_the_jvm(jdk, running.pid(), &after);
    if jdk.feature >= 17 {
        let pid = running.pid().to_string();
        process::run(jdk.tool("jcmd").args([&pid, "GC.heap_dump", "-gz=1"]).arg(&packed)).success();
    }
    let _ran = running.finish();

    check_waste(&after);
    let ([b, a], long) = ([&before, &after].map(|file| boxes(file, "java.lang.Long")), 24);
    assert_eq!([a[0] - b[0], a[1] - b[1], a[2] - b[2]], [500, 1, 499 * long]);
    if packed.is_file() {
        check_waste(&packed);
        let histogram = |file: &Path| {
            let report = report(file, &["--show", "histogram", "--filter", "waste.*"]);
            (report["complete"].clone(), report["histogram"].clone())
        };
        assert_eq!(histogram(&packed), histogram(&after));
    }

    let mut command = Command::new(&martini::built().command);
    command.args(["heap", "--json", "--diff", "--filter", "waste.*"]).args([&before, &after]);
    let changes: Value = serde_json::from_slice(&process::run(&mut command).success().stdout).expect("JSON");
    let change = row(&changes["classes"], "waste.Main$Rows");
    let none = json!({ "instances": 0, "shallow_bytes": 0, "retained_bytes": 0 });
    // The ten that are not empty have four places.
    let retained = 310 * 24 + 300 * (16 + 16 * 4) + 10 * (16 + 4 * 4);
    assert_eq!(change["before"], none);
    assert_eq!(change["after"], json!({ "instances": 310, "shallow_bytes": 310 * 24, "retained_bytes": retained }));

    check_requests(&after);
}

/// An object by its id, and its class by its name and id.
#[track_caller]
fn check_requests(file: &Path) {
    let class = report(file, &["--class", "waste.Main$Index"])["classes"][0].clone();
    assert_eq!((&class["instances"], &class["superclass"]), (&json!(200), &json!("java.util.HashMap")));
    assert_eq!(class["loader"]["class"], "jdk.internal.loader.ClassLoaders$AppClassLoader");
    let id = class["id"].as_str().expect("the class object");
    assert_eq!(report(file, &["--class", id])["classes"][0], class);

    let id = class["largest"][0]["id"].as_str().expect("an id");
    let object = report(file, &["--object", id])["object"].clone();
    assert_eq!((&object["id"], &object["class"]), (&json!(id), &json!("waste.Main$Index")));
    let fields = object["contents"]["fields"].as_array().expect("an array");
    assert!(fields.contains(&json!({ "name": "size", "value": "1" })), "{fields:?}");
    // Index, table of 64 places, and the entry.
    assert_eq!(object["retained_bytes"], 48 + (16 + 64 * 4) + 32);
    assert_eq!(object["dominator"]["class"], "java.lang.Object[]");
    let by = &object["referred_by"][0];
    assert_eq!((&by["id"], by["from"].as_str()), (&object["dominator"]["id"], Some(id)));
    let steps = object["paths"][0]["steps"].as_array().expect("an array");
    let last: Vec<&Value> = steps.iter().rev().take(3).map(|step| &step["by"]).collect();
    assert_eq!((last[1], &steps[steps.len() - 3]["is_class"]), (&json!("static planted"), &json!("waste.Main")));
    assert_eq!(last[0], &by["by"], "the place in the array");
}
