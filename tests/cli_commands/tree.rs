//! `martini tree` on traces whose trees are known.

use serde_json::Value;

use crate::support::{run, text, trace, trace_json, written};

fn nodes(arguments: &[&str]) -> Vec<Value> {
    let all = trace_json(&[&["tree"], arguments].concat());
    all["nodes"].as_array().expect("an array").clone()
}

/// Depth and name of each node.
fn names(nodes: &[Value]) -> Vec<String> {
    nodes.iter().map(|node| format!("{} {}", node["depth"], node["name"].as_str().unwrap_or("all"))).collect()
}

#[test]
fn the_json_has_each_node_in_front_of_those_below_it() {
    let all = nodes(&["--frames", "method", "--cut", "0", &trace("callers.trcxml")]);
    assert_eq!(
        (&all[0]["kind"], &all[0]["weight"], &all[0]["error"]),
        (&"root".into(), &113_066_400.into(), &0.into())
    );
    let names = names(&all);
    let expected = ["0 all", "1 java.lang.Thread.run", "2 demo.Worker.run", "3 java.lang.StringBuilder.append"];
    assert_eq!(names[..4], expected);
    assert!(names.contains(&"1 (no stack)".to_owned()), "{names:?}");
    let removed = all.iter().find(|node| node["kind"] == "removed").expect("much of what a line makes was removed");
    assert!(removed["error"].as_u64().unwrap() > 0 && removed["depth"] == 1, "{removed}");
    // A node weighs what is below it and what ends in it.
    for (at, node) in all.iter().enumerate() {
        let depth = node["depth"].as_u64().unwrap();
        let below = all[at + 1..].iter().take_while(|node| node["depth"].as_u64().unwrap() > depth);
        let children: u64 =
            below.filter(|node| node["depth"] == depth + 1).map(|node| node["weight"].as_u64().unwrap()).sum();
        let sum = children + node["own"].as_u64().unwrap() + node["left_out_weight"].as_u64().unwrap();
        assert!(sum.abs_diff(node["weight"].as_u64().unwrap()) <= 5, "{node}");
    }
}

#[test]
fn trees_are_selected_grouped_and_cut() {
    let of = |flags: &[&str]| names(&nodes(&[flags, &[&trace("callers.trcxml")]].concat()));
    assert_eq!(
        of(&["--filter", "char", "--bottom-up", "--frames", "class"])[1..3],
        ["1 char[]", "2 java.io.BufferedReader"]
    );
    assert_eq!(of(&["--by", "thread", "--in", "demo.Main.save"])[1], "1 main");
    assert_eq!(of(&["--by", "class", "--frames", "package"])[1..3], ["1 byte[]", "2 java.lang"]);
    assert_eq!(of(&["--cut", "50"]), ["0 all", "1 java.lang.Thread.run(Thread.java:840)"]);
    // What a part of the samples says has an error even at the root.
    let root = &nodes(&["--in", "demo.Main.save", &trace("callers.trcxml")])[0];
    assert!(root["error"].as_u64().unwrap() > 0 && root["weight"].as_u64().unwrap() < 20_000_000, "{root}");
}

#[test]
fn the_text_can_be_cut_at_a_depth_and_show_all_frames() {
    let tree = |flags: &[&str]| run(&[&["tree"], flags, &[&trace("callers.trcxml")]].concat()).out;
    let cut = tree(&["--depth", "1"]);
    assert!(cut.contains("├ demo.Main.main(Main.java:5) …\n") && !cut.contains("Worker"), "{cut}");
    assert!(tree(&[]).contains("… 6 frames of ") && !tree(&["--all-frames"]).contains(" frames of "));
    // What is the user's own is not left out.
    let own = tree(&["--own", "org.springframework.*"]);
    assert!(own.contains("Registry.register"), "{own}");
}

#[test]
fn with_single_objects_all_is_exact() {
    let out = run(&["tree", &trace("heap.trcxml")]).out;
    assert!(!out.contains('±') && out.contains("Allocations, top down: 4 objects, 1.1 KiB"), "{out}");
    assert!(out.contains("note: the trace has no callers") && out.contains("run --stack 16"), "{out}");
}

#[test]
fn waits_for_locks_are_a_tree_of_time() {
    let all = nodes(&["--locks", "--by", "thread", &trace("contention.trcxml")]);
    assert_eq!((all[0]["count"].as_u64(), all[0]["weight"].as_u64()), (Some(7), Some(675_000_000)));
    let threads = all.iter().filter(|node| node["kind"] == "thread");
    let threads: Vec<_> = threads.map(|node| node["weight"].as_u64().unwrap()).collect();
    assert_eq!(threads.iter().sum::<u64>(), 675_000_000);
    let waits = nodes(&["--waits", "--filter", "demo.*", &trace("contention.trcxml")]);
    assert_eq!((waits[0]["count"].as_u64(), waits[0]["weight"].as_u64()), (Some(1), Some(200_000_000)));
    // It has no allocations, so the waits are what it is about.
    let out = run(&["tree", &trace("contention.trcxml")]).out;
    assert!(out.contains("\nWaits for locks, top down: 7 waits, 675 ms"), "{out}");
    let log = run(&["tree", &trace("locks-2011.log")]);
    assert!(log.status == 0 && log.out.contains("Waits for locks, top down"), "{}{}", log.out, log.err);
}

#[test]
fn folded_stacks_weigh_what_the_tree_does() {
    for file in ["callers.trcxml", "contention.trcxml"] {
        let out = run(&["tree", "--folded", &trace(file)]).out;
        let weights = out.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap());
        let root = nodes(&[&trace(file)])[0]["weight"].as_u64().unwrap();
        assert!(weights.sum::<u64>().abs_diff(root) <= 10, "{out}");
    }
    let out = run(&["tree", "--folded", "--frames", "method", &trace("callers.trcxml")]).out;
    assert!(out.contains("java.lang.Thread.run;demo.Worker.run;demo.Cell 19922944\n"), "{out}");
    assert!(out.contains("(removed by the JIT, caller unknown);demo.Worker.run;demo.Cell 28077056\n"), "{out}");
}

#[test]
fn what_selects_nothing_is_noted() {
    for (flags, sentence) in [
        (&["--in", "nobody.*"][..], "no stack has a frame that matches --in"),
        (&["--filter", "nobody.*"], "no class matches --filter 'nobody.*'"),
        (&["--locks", "--filter", "nobody.*"], "no thread waited for a lock that matches --filter"),
    ] {
        let ended = run(&[&["tree"], flags, &[&trace("callers.trcxml")]].concat());
        assert_eq!(ended.err, format!("martini: {}: {sentence}\n", trace("callers.trcxml")), "{flags:?}");
    }
}

#[test]
fn bad_flags_are_named() {
    for (flags, part) in [
        (&["--cut", "200"][..], "give a number from 0 to 100, such as 0.5"),
        (&["--depth", "deep"], "give an integer"),
        (&["--folded", "--json"], "cannot be used with"),
        (&["--locks", "--waits"], "cannot be used with"),
    ] {
        let ended = run(&[&["tree"], flags, &[&trace("callers.trcxml")]].concat());
        assert!(ended.status == 2 && ended.err.contains(part), "{}", ended.err);
    }
}

#[test]
fn a_trace_without_its_stacks_still_has_a_tree() {
    let whole = text("callers.trcxml");
    let without: Vec<&str> = whole.lines().filter(|line| !line.starts_with("<stackDef")).collect();
    let file = written(without.join("\n"));
    let out = run(&["tree", file.path()]).out;
    assert!(out.contains("(no stack)") && out.contains("ids of classes, threads, methods or stacks"), "{out}");
}
