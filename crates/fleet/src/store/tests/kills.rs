//! A process that is killed at any step leaves nothing behind, and nothing undone.

use super::*;
use trace::date::Date;

/// Lets a store be changed one step further each time, until the change is done. What a reader sees in between is what was there before
/// or after; the last store has all of it.
fn killed_at_each_step(
    prepare: impl Fn(&Store),
    change: impl Fn(&Store) -> Result<(), StoreError>,
    is_atomic: bool,
) -> BTreeMap<&'static str, Vec<String>> {
    let (_prepared, prepared) = store();
    prepare(&prepared);
    let (before, prepared) = (all_visible(&prepared), files(&prepared));
    let copy = || {
        let (folder, store) = store();
        for (path, bytes) in &prepared {
            let path = store.root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        (folder, store)
    };
    let (_expected, expected) = copy();
    change(&expected).unwrap();
    let (after, bytes) = (all_visible(&expected), files(&expected));
    for steps in 0.. {
        let (_folder, store) = copy();
        store.disk.left.set(Some(steps));
        let is_done = change(&store).is_ok();
        let seen = all_visible(&store);
        assert!(!is_atomic || facts(&seen) == facts(&before) || facts(&seen) == facts(&after), "step {steps}");
        // Who comes next opens it anew.
        let store = Store::open(&store.root).unwrap();
        change(&store).unwrap();
        assert_eq!(all_visible(&store), after, "step {steps}");
        assert_eq!(files(&store), bytes, "step {steps}");
        if is_done {
            return after;
        }
    }
    unreachable!("a change has an end")
}

/// Names may be there before they are used.
fn facts<'s>(seen: &BTreeMap<&'s str, Vec<String>>) -> BTreeMap<&'s str, Vec<String>> {
    let is_fact = |name: &str| TABLES.iter().any(|table| table.name == name && table.partition == Partition::Day);
    seen.iter().filter(|(name, _)| is_fact(name)).map(|(&name, rows)| (name, rows.clone())).collect()
}

fn add(pid: u64, objects: &[u64], store: &Store) -> Result<(), StoreError> {
    Trace::of(&small(pid, objects)).add(store).map(drop)
}

#[test]
fn an_add() {
    let after = killed_at_each_step(|store| add(1, &[3, 2], store).unwrap(), |store| add(2, &[1, 4, 2], store), true);
    assert_eq!((after["run"].len(), after["class"].len()), (2, 3));
}

#[test]
fn a_merge() {
    let prepare = |store: &Store| {
        (1..=2).for_each(|pid| add(pid, &[3, pid], store).unwrap());
        store.compact().unwrap();
        add(3, &[1, 1, 1], store).unwrap();
    };
    let after = killed_at_each_step(prepare, |store| store.compact().map(drop), true);
    assert_eq!(after["run"].len(), 3);
}

#[test]
fn a_removal() {
    let prepare = |store: &Store| {
        (1..=2).for_each(|pid| add(pid, &[2], store).unwrap());
        Trace::golden("jvmpi.trcxml").add(store).unwrap();
    };
    let day = Date::parse("2020-01-01").unwrap();
    let after = killed_at_each_step(prepare, |store| store.prune(day).map(drop), true);
    assert_eq!(after["run"].len(), 2);
}
