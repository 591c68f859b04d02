//! `martini heap` on the worked example of `tests/traces`, and on what is no dump.

use hprof::martini::{self, Martini};
use hprof::read::ClassDump;
use hprof::write::Writer;
use hprof::{ClassSerial, NameId, ObjectId, StackSerial};
use serde_json::{Value, json};

use crate::support::{end_with_input, json, martini, run, text, trace, written};

fn heap_json(arguments: &[&str]) -> Value {
    json(&[&["heap"], arguments].concat())
}

#[test]
fn the_dump_example_has_the_sizes_that_follow_from_it() {
    let json = heap_json(&[&trace("dump.trcxml")]);
    let dump = &json["dumps"][0];
    assert_eq!((&dump["objects"], &dump["roots"], &dump["references"]), (&json!(5), &json!(3), &json!(3)));
    let registry = dump["histogram"].as_array().unwrap().iter().find(|row| row["class"] == "demo.Registry").unwrap();
    let expected = json!({
        "class": "demo.Registry", "instances": 1, "shallow_bytes": 16, "retained_bytes": 64, "unreachable": 0, "average_age": null,
        "generations": 0,
    });
    assert_eq!(registry, &expected);
}

#[test]
fn generated_classes_of_two_traces_are_compared_by_what_made_them() {
    let folder = tempfile::tempdir().unwrap();
    let [before, after] = [("a", "demo.Main$$Lambda$14/0x0000000800c03000"), ("b", "demo.Main$$Lambda$15/0x00007f00")]
        .map(|(file, class)| {
            let path = folder.path().join(file);
            std::fs::write(&path, text("dump.trcxml").replace("\"demo.Node\"", &format!("\"{class}\""))).unwrap();
            path.to_str().unwrap().to_owned()
        });
    assert_eq!(heap_json(&["--diff", &before, &after])["classes"], json!([]));
    // The class is found by the one name and by the other.
    for name in ["demo.Main$$Lambda", "demo.Main$$Lambda/0x1"] {
        let class = &heap_json(&["--class", name, &before])["dumps"][0];
        assert_eq!(
            (&class["definitions"][0]["name"], &class["classes"][0]["instances"]),
            (&json!("demo.Main$$Lambda"), &json!(2))
        );
    }
}

#[test]
fn an_object_has_its_life_its_holders_and_its_path() {
    let json = heap_json(&["--object", "22", &trace("dump.trcxml")]);
    let dump = &json["dumps"][0];
    assert_eq!((&dump["lives"][0]["class"], &dump["lives"][0]["collections"]), (&json!("demo.Node"), &json!(1)));
    let object = &dump["object"];
    assert_eq!((&object["dominator"]["id"], &object["age"]), (&json!("0x15"), &json!(1)));
    let steps: Vec<&Value> = object["paths"][0]["steps"].as_array().unwrap().iter().map(|step| &step["id"]).collect();
    assert_eq!(steps, ["0x14", "0x15", "0x16"]);
    let freed = heap_json(&["--object", "23", &trace("dump.trcxml")]);
    assert_eq!(freed["dumps"][0]["lives"][0]["freed_nanos"], json!(1_767_606_602_003_000_000_u64));
    let ended = run(&["heap", "--object", "99", &trace("dump.trcxml")]);
    assert!(ended.status == 2 && ended.err.contains("has no object 0x63 (99)"), "{}", ended.err);
}

#[test]
fn a_filter_that_matches_nothing_is_noted() {
    let dump = trace("dump.trcxml");
    for files in [&[dump.as_str()][..], &["--diff", &dump, &dump]] {
        let ended = run(&[&["heap", "--filter", "demo.*", "--filter", "nothing.*"], files].concat());
        let note = format!("martini: {dump}: no class matches --filter 'nothing.*'\n");
        assert_eq!((ended.status, ended.err), (0, note));
    }
}

#[test]
fn a_class_is_shown_by_its_name_and_by_its_id() {
    for class in ["demo.Node", "2"] {
        let json = heap_json(&["--class", class, &trace("dump.trcxml")]);
        let dump = &json["dumps"][0];
        assert_eq!(dump["definitions"][0]["source"], "Node.java");
        assert_eq!((&dump["classes"][0]["instances"], &dump["classes"][0]["shallow_bytes"]), (&json!(2), &json!(48)));
    }
    let ended = run(&["heap", "--class", "no.Such", &trace("dump.trcxml")]);
    assert!(ended.status == 2 && ended.err.contains("has no class no.Such"), "{}", ended.err);
}

#[test]
fn a_dump_compared_with_itself_has_not_changed() {
    let json = heap_json(&["--diff", &trace("dump.trcxml"), &trace("dump.trcxml")]);
    assert_eq!(json["classes"], json!([]));
}

#[test]
fn what_is_no_dump_is_named() {
    let file = written(b"JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0\0\x01");
    let ended = run(&["heap", file.path()]);
    assert!(ended.status == 2 && ended.err.contains("is truncated at byte 32"), "{}", ended.err);
}

#[test]
fn a_dump_comes_through_a_pipe() {
    let ended = end_with_input(martini().args(["heap", "--json", "-"]), text("dump.trcxml").as_bytes());
    let json: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(json["dumps"][0]["objects"], 5);
}

const WITHOUT_IDS: &str = "all: the JVM's dump does not show their addresses";

#[test]
fn a_dump_without_ids_says_so() {
    let dir = tempfile::tempdir().expect("a folder");
    let note = format!("objects without a trace id have no line and no age ({WITHOUT_IDS})");

    let file = dir.path().join("app-1.hprof").display().to_string();
    let mut dump = Writer::new(Vec::new(), 0).expect("memory");
    let class = ClassDump { id: ObjectId(8), ..ClassDump::default() };
    dump.name(NameId(1), b"demo/Node").expect("memory");
    dump.load_class(ClassSerial(1), class.id, StackSerial(0), NameId(1)).expect("memory");
    dump.class(&class).expect("memory");
    let martini = Martini { without_ids: WITHOUT_IDS.to_owned(), ..Martini::default() };
    for (id, text) in (martini::FIRST.0..).zip(martini.encode()) {
        dump.name(NameId(id), text.as_bytes()).expect("memory");
    }
    std::fs::write(&file, dump.finish().expect("memory")).expect("a folder of ours");
    let json = heap_json(&[&file]);
    let notes = json["dumps"][0]["notes"].as_array().expect("notes");
    assert!(notes.contains(&json!(note)), "{notes:?}");
    assert!(run(&["heap", &file]).out.contains(WITHOUT_IDS));

    let file = dir.path().join("app.trcxml").display().to_string();
    let text = std::fs::read_to_string(trace("dump.trcxml")).expect("an example");
    let text = text.replace(r#"name="dump-1" "#, &format!(r#"name="dump-1" withoutIds="{WITHOUT_IDS}" "#));
    assert!(text.contains(WITHOUT_IDS));
    std::fs::write(&file, text).expect("a folder of ours");
    let json = heap_json(&[&file]);
    assert_eq!(json["dumps"][0]["notes"], json!([format!("in its heap dump dump-1 {note}")]));
    assert_eq!(run(&["validate", &file]).status, 0);
}
