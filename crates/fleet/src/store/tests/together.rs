//! Several who add, and what they are told.

use std::os::unix::fs::PermissionsExt;
use std::thread;

use super::*;
use trace::date::Date;

#[test]
fn the_same_trace_gives_the_same_bytes_once() {
    let [one, other] = [(); 2].map(|()| {
        let (folder, store) = store();
        let trace = Trace::golden("explain.trcxml");
        assert!(!store.has(trace.content.0, trace.report.allocations.beginning()).unwrap());
        assert!(matches!(trace.add(&store).unwrap(), Added::Now { .. }));
        let found = files(&store);
        assert!(store.has(trace.content.0, trace.report.allocations.beginning()).unwrap());
        // Whoever it is filed under.
        assert_eq!(store.add(&trace.recording(&labels("other"))).unwrap(), Added::Before);
        store.compact().unwrap();
        assert_eq!(trace.add(&store).unwrap(), Added::Before);
        assert_eq!(files(&store), found, "one file is not merged");
        drop(folder);
        found
    });
    assert!(one.len() > 5 && one == other);
}

#[test]
fn several_add_at_a_time() {
    let texts: Vec<Vec<u8>> = (1..=4).map(|pid| small(pid, &[pid, 2])).collect();
    let (_folder, expected) = store();
    texts.iter().for_each(|text| assert!(Trace::of(text).add(&expected).is_ok()));
    let (_folder, shared) = store();
    let root = shared.root.clone();
    thread::scope(|scope| {
        for turn in 0..3 {
            let (texts, root) = (&texts, &root);
            scope.spawn(move || {
                let store = Store::open_or_create(root).unwrap();
                // Each begins with another one.
                for number in 0..texts.len() {
                    Trace::of(&texts[(number + turn) % texts.len()]).add(&store).unwrap();
                    if turn == 2 {
                        store.compact().unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(all_visible(&shared), all_visible(&expected));
    shared.compact().unwrap();
    assert_eq!(all_visible(&shared), all_visible(&expected));
}

#[test]
fn merged_rows_are_the_same_in_fewer_files() {
    let (_folder, store) = store();
    for (pid, service) in [(1, "shop"), (2, "shop"), (3, "shop"), (4, "a/b")] {
        let trace = Trace::of(&small(pid, &[pid]));
        store.add(&trace.recording(&labels(service))).unwrap();
    }
    let (before, seen) = (files(&store).len(), all_visible(&store));
    let compacted = store.compact().unwrap();
    assert_eq!(all_visible(&store), seen);
    assert_eq!(before as u64 - compacted.before + compacted.after, files(&store).len() as u64);
    assert_eq!(store.compact().unwrap().before, 0, "there is nothing more to merge");
    // More is merged with what is merged.
    Trace::of(&small(5, &[7])).add(&store).unwrap();
    let seen = all_visible(&store);
    assert!(store.compact().unwrap().before > 0);
    assert_eq!(all_visible(&store), seen);
}

#[test]
fn a_trace_says_whose_it_is() {
    let (_folder, store) = store();
    let options = "<option key=\"service\" value=\"till\"/>\n<option key=\"release\" value=\"2\"/>\n<threadStart ";
    let text = String::from_utf8(small(1, &[1])).unwrap().replacen("<threadStart ", options, 1);
    let trace = Trace::of(text.as_bytes());
    let added = store.add(&trace.recording(&Labels::default())).unwrap();
    assert!(matches!(&added, Added::Now { service, release, .. } if service == "till" && release == "2"), "{added:?}");
}

#[test]
fn names_are_there_once_in_a_release() {
    let (_folder, store) = store();
    for pid in 1..=3 {
        Trace::of(&small(pid, &[2, 2])).add(&store).unwrap();
    }
    assert_eq!((all_rows(&store, &crate::schema::CLASS).len(), visible(&store, &crate::schema::CLASS).len()), (2, 2));
}

#[test]
fn what_is_old_goes_with_its_names() {
    let (_folder, store) = store();
    Trace::golden("jvmpi.trcxml").add(&store).unwrap();
    let kept = Trace::of(&small(1, &[2]));
    store.add(&kept.recording(&labels("other"))).unwrap();
    assert_eq!(store.prune(Date::parse("2007-01-01").unwrap()).unwrap().files, 0);
    let pruned = store.prune(Date::parse("2026-01-05").unwrap()).unwrap();
    assert!(pruned.files > 0 && pruned.bytes > 0);
    let (_folder, expected) = super::store();
    expected.add(&kept.recording(&labels("other"))).unwrap();
    assert_eq!(files(&store), files(&expected));
}

#[test]
fn half_a_trace_is_not_added_beside_the_whole() {
    let (_folder, store) = store();
    let whole = small(1, &[5]);
    Trace::of(&whole).add(&store).unwrap();
    let half = String::from_utf8(whole).unwrap().replace("<traceEnd time=\"1767609999.9\"/>\n", "");
    let half = Trace::of(half.as_bytes());
    let refusal = "another part of this recording is in the store, as run ";
    assert!(half.add(&store).unwrap_err().to_string().starts_with(refusal));
    Trace::of(&small(2, &[1])).add(&store).unwrap();
    store.compact().unwrap();
    assert!(half.add(&store).unwrap_err().to_string().starts_with(refusal), "also when it is merged");
}

#[test]
fn a_change_that_fails_is_undone() {
    let (_folder, store) = store();
    Trace::of(&small(1, &[])).add(&store).unwrap();
    let in_the_way = store.root.join("alloc");
    fs::write(&in_the_way, "").unwrap();
    let before = files(&store);
    let trace = Trace::of(&small(2, &[3]));
    trace.add(&store).unwrap_err();
    assert_eq!(files(&store), before);
    fs::remove_file(&in_the_way).unwrap();
    assert!(matches!(trace.add(&store).unwrap(), Added::Now { .. }));
}

#[test]
fn runs_that_were_removed_by_hand_are_added_again() {
    let (_folder, store) = store();
    let traces: Vec<Trace> = (1..=3).map(|pid| Trace::of(&small(pid, &[pid, 1]))).collect();
    traces.iter().for_each(|trace| assert!(trace.add(&store).is_ok()));
    store.compact().unwrap();
    let seen = all_visible(&store);
    fs::remove_dir_all(store.root.join("run")).unwrap();
    assert!(visible(&store, &crate::schema::ALLOC).is_empty());
    traces.iter().for_each(|trace| assert!(trace.add(&store).is_ok()));
    assert_eq!(all_visible(&store), seen);
    store.compact().unwrap();
    assert_eq!(all_visible(&store), seen);
}

#[test]
fn only_a_store_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let said = |path: &Path| Store::open_or_create(path).unwrap_err().to_string();
    fs::write(folder.path().join("notes.txt"), "").unwrap();
    assert!(said(folder.path()).contains("is no fleet store: it has other files"));
    assert!(Store::open(folder.path()).unwrap_err().to_string().contains("is no fleet store"));
    assert!(Store::open(&folder.path().join("none")).unwrap_err().to_string().starts_with("there is no store"));
    let newer = folder.path().join("newer");
    fs::create_dir(&newer).unwrap();
    fs::write(newer.join("_martini"), "martini fleet 2\n").unwrap();
    assert!(said(&newer).contains("was written by a newer Martini (schema 2)"));
    let (_folder, store) = store();
    let trace = Trace::of(&small(1, &[1]));
    let refused = store.add(&trace.recording(&labels("")));
    assert_eq!(refused.unwrap_err().to_string(), "service '' is empty or longer than 200 bytes");
}

#[test]
fn files_are_for_their_owner_alone() {
    let (_folder, store) = store();
    Trace::of(&small(1, &[1])).add(&store).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for path in files(&store).keys() {
        let path = store.root.join(path);
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700), "{}", path.display());
    }
    assert_eq!(mode(&store.root), 0o700);
}
