//! Graphs of known declared: dominators, retained sizes, paths, suspects, as computed by hand or by the definition.

use analysis::ages::AgeSpread;
use analysis::heap_dump::traced::TracedDump;
use analysis::heap_dump::{ClassRow, Dominators, DumpId, Excluded, Graph, ObjectIndex, histogram, suspects};
use proptest::prelude::*;
use trace::ids::{ClassId, HeapDumpId, ObjectId};
use trace::model::{ArrayCode, ClassDef, Element, GcRoot, HeapDumpDef, ObjAlloc, ObjectReference, RootType};
use trace::time::Time;

const DUMP: HeapDumpId = HeapDumpId(1);

/// A heap of objects 1, 2, ... of 16 bytes each, of the class `A`, `B`, `C` or `D` that `class_of` says by its number from 1.
fn heap(objects: u64, roots: &[u64], references: &[(u64, u64)], class_of: impl Fn(u64) -> u64) -> Graph {
    let mut dump = TracedDump::new(None);
    let mut feed = |element: Element<'_>| dump.element(&element).expect("not too many");
    for (id, name) in [(1, "A"), (2, "B"), (3, "C"), (4, "D")] {
        feed(Element::ClassDef(ClassDef {
            thread: None,
            name: name.into(),
            source_name: None,
            class_id: ClassId(id),
            object: None,
            time: Time(1),
            module: None,
        }));
    }
    for object in 1..=objects {
        feed(Element::ObjAlloc(ObjAlloc {
            thread: None,
            is_array: Some(ArrayCode::OBJECT),
            size: 16,
            obj_id: ObjectId(object),
            class: ClassId(class_of(object)),
            method: None,
            line: None,
            stack: None,
            time: Time(1),
        }));
    }
    feed(Element::HeapDumpDef(HeapDumpDef { dump_id: DUMP, name: None, time: Time(2), without_ids: None }));
    for &root in roots {
        let (object, root_type) = (ObjectId(root), RootType::JavaFrame);
        feed(Element::GcRoot(GcRoot { dump: DUMP, object, root_type, thread: None }));
    }
    for &(owner, object) in references {
        let (owner, object) = (ObjectId(owner), ObjectId(object));
        feed(Element::ObjectReference(ObjectReference { dump: DUMP, owner, object, field_index: None }));
    }
    dump.finish().expect("not too many").expect("a dump was begun")
}

fn at(graph: &Graph, id: u64) -> ObjectIndex {
    graph.object(DumpId(id)).expect("the object is there")
}

/// The dominator of each object, 0 for none; `None` for what no root leads to.
fn dominators_of(graph: &Graph, objects: u64) -> Vec<Option<u64>> {
    let dominators = Dominators::of(graph).expect("not too many");
    let by = |id: u64| {
        let object = at(graph, id);
        dominators.is_reachable(object).then(|| dominators.dominator(object).map_or(0, |by| graph.id(by).0))
    };
    (1..=objects).map(by).collect()
}

/// What is reachable from the roots without going through an object.
fn reachable_without(without: u64, objects: u64, roots: &[u64], references: &[(u64, u64)]) -> Vec<bool> {
    let mut reached = vec![false; objects as usize + 1];
    let mut open: Vec<u64> = roots.to_vec();
    while let Some(object) = open.pop() {
        if object == without || std::mem::replace(&mut reached[object as usize], true) {
            continue;
        }
        open.extend(references.iter().filter(|(owner, _)| *owner == object).map(|(_, target)| *target));
    }
    reached
}

/// Dominators by their definition: of all objects without which this one cannot be reached, the one that all others are
/// needed for, too.
fn by_definition(objects: u64, roots: &[u64], references: &[(u64, u64)]) -> Vec<Option<u64>> {
    let all = reachable_without(0, objects, roots, references);
    let without: Vec<Vec<bool>> =
        (0..=objects).map(|gone| reachable_without(gone, objects, roots, references)).collect();
    let dominates = |by: u64, object: u64| by != object && all[by as usize] && !without[by as usize][object as usize];
    let nearest = |object: u64| {
        let above: Vec<u64> = (1..=objects).filter(|&by| dominates(by, object)).collect();
        let nearest = above.iter().copied().find(|&by| above.iter().all(|&other| other == by || dominates(other, by)));
        nearest.unwrap_or(0)
    };
    (1..=objects).map(|object| all[object as usize].then(|| nearest(object))).collect()
}

fn graphs() -> impl Strategy<Value = (u64, Vec<u64>, Vec<(u64, u64)>)> {
    (1..24_u64).prop_flat_map(|objects| {
        let roots = prop::collection::vec(1..=objects, 0..4);
        let references = prop::collection::vec((1..=objects, 1..=objects), 0..48);
        (Just(objects), roots, references)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn dominators_are_what_their_definition_says((objects, roots, references) in graphs()) {
        let graph = heap(objects, &roots, &references, |_| 1);
        prop_assert_eq!(dominators_of(&graph, objects), by_definition(objects, &roots, &references));
    }

    #[test]
    fn retained_is_what_dies_with_an_object((objects, roots, references) in graphs()) {
        let graph = heap(objects, &roots, &references, |_| 1);
        let dominators = Dominators::of(&graph).unwrap();
        let all = reachable_without(0, objects, &roots, &references);
        for id in 1..=objects {
            let left = reachable_without(id, objects, &roots, &references);
            let dead = (1..=objects).filter(|&other| all[other as usize] && !left[other as usize]).count();
            let expected = if all[id as usize] { dead as u64 * 16 } else { 0 };
            prop_assert_eq!(dominators.retained(at(&graph, id)), expected);
        }
    }

    #[test]
    fn paths_are_the_shortest((objects, roots, references) in graphs(), target in 0..24_u64) {
        let target = target % objects + 1;
        let graph = heap(objects, &roots, &references, |_| 1);
        let paths = graph.paths(at(&graph, target), Excluded::default(), usize::MAX);
        // By levels from the target backwards.
        let mut level = vec![None; objects as usize + 1];
        level[target as usize] = Some(1_usize);
        for step in 1..=objects as usize {
            for &(owner, to) in &references {
                if level[to as usize] == Some(step) && level[owner as usize].is_none() {
                    level[owner as usize] = Some(step + 1);
                }
            }
        }
        let mut expected: Vec<(usize, u64)> = roots.iter().filter_map(|&root| Some((level[root as usize]?, root))).collect();
        expected.sort_unstable();
        expected.dedup();
        let mut lengths: Vec<(usize, u64)> = paths.iter().map(|path| (path.len(), graph.id(path[0]).0)).collect();
        prop_assert!(lengths.is_sorted_by_key(|(length, _)| *length));
        lengths.sort_unstable();
        prop_assert_eq!(lengths, expected);
        for path in paths {
            let ids: Vec<u64> = path.iter().map(|&object| graph.id(object).0).collect();
            prop_assert!(ids.windows(2).all(|pair| references.contains(&(pair[0], pair[1]))));
            prop_assert_eq!(ids.last(), Some(&target));
        }
    }
}

#[test]
fn the_graph_of_lengauer_and_tarjan_has_the_dominators_of_their_paper() {
    // R A B C D E F G H I J K L are 1 to 13; from "A Fast Algorithm for Finding Dominators in a Flowgraph", 1979, figures 1 and 2.
    let references = [
        ('R', "ABC"),
        ('A', "D"),
        ('B', "ADE"),
        ('C', "FG"),
        ('D', "L"),
        ('E', "H"),
        ('F', "I"),
        ('G', "IJ"),
        ('H', "EK"),
        ('I', "K"),
        ('J', "I"),
        ('K', "RI"),
        ('L', "H"),
    ];
    let id = |name: char| "RABCDEFGHIJKL".find(name).expect("a name of the figure") as u64 + 1;
    let pairs: Vec<(u64, u64)> =
        references.iter().flat_map(|(from, to)| to.chars().map(|to| (id(*from), id(to)))).collect();
    let graph = heap(13, &[1], &pairs, |_| 1);
    let expected = [
        ('R', None),
        ('A', Some('R')),
        ('B', Some('R')),
        ('C', Some('R')),
        ('D', Some('R')),
        ('E', Some('R')),
        ('F', Some('C')),
        ('G', Some('C')),
        ('H', Some('R')),
        ('I', Some('R')),
        ('J', Some('G')),
        ('K', Some('R')),
        ('L', Some('D')),
    ];
    let expected: Vec<Option<u64>> = expected.iter().map(|(_, by)| Some(by.map_or(0, id))).collect();
    assert_eq!(dominators_of(&graph, 13), expected);
}

#[test]
fn a_chain_of_a_million_takes_no_stack() {
    const LENGTH: u64 = 1_000_000;
    let references: Vec<(u64, u64)> = (1..LENGTH).map(|object| (object, object + 1)).collect();
    // What runs here has 2 MiB of stack, 2 bytes for each object.
    let graph = heap(LENGTH, &[1], &references, |_| 1);
    let dominators = Dominators::of(&graph).unwrap();
    for id in [1, 2, LENGTH / 2, LENGTH] {
        assert_eq!(dominators.retained(at(&graph, id)), (LENGTH - id + 1) * 16);
    }
    let path = graph.paths(at(&graph, LENGTH), Excluded::default(), 1).pop().expect("there is one");
    assert_eq!(path.len() as u64, LENGTH);
    let row = ClassRow {
        class: "A".into(),
        instances: LENGTH,
        shallow: LENGTH * 16,
        retained: LENGTH * 16,
        unreachable: 0,
        ages: AgeSpread::default(),
    };
    assert_eq!(histogram(&graph, &dominators), [row]);
    // All of the chain is one pile, and its head is what is named.
    let piles = suspects(&graph, &dominators, 0.05, 10);
    assert_eq!((piles.len(), piles[0].holder), (1, Some(at(&graph, 1))));
    assert_eq!(piles[0].bytes, LENGTH * 16);
}

#[test]
fn a_class_retains_what_its_objects_do_each_counted_once() {
    // 1 (A) -> 2 (B) -> 3 (B) -> 4 (A); 1 -> 5 (B); 6 is garbage.
    let graph = heap(6, &[1], &[(1, 2), (2, 3), (3, 4), (1, 5)], |id| if matches!(id, 2 | 3 | 5) { 2 } else { 1 });
    let dominators = Dominators::of(&graph).unwrap();
    let mut rows = histogram(&graph, &dominators);
    rows.sort_by(|a, b| a.class.cmp(&b.class));
    let row = |class: &str, instances, retained, unreachable| ClassRow {
        class: class.into(),
        instances,
        shallow: instances * 16,
        retained,
        unreachable,
        ages: AgeSpread::default(),
    };
    assert_eq!(rows, [row("A", 3, 5 * 16, 1), row("B", 3, 4 * 16, 0)]);
}

#[test]
fn a_pile_is_found_where_it_is_and_not_above() {
    // 1 holds 2 and 3; 3 holds 4, which holds a hundred small ones; 2 holds ten.
    let mut references = vec![(1, 2), (1, 3), (3, 4)];
    references.extend((5..105).map(|small| (4, small)));
    references.extend((105..115).map(|small| (2, small)));
    let graph = heap(114, &[1], &references, |id| if id <= 4 { id } else { 2 });
    let dominators = Dominators::of(&graph).unwrap();
    let piles = suspects(&graph, &dominators, 0.2, 10);
    assert_eq!(piles.len(), 1);
    assert_eq!(piles[0].holder, Some(at(&graph, 4)));
    assert_eq!((piles[0].parts[0].objects, piles[0].parts[0].bytes), (100, 1600));
    // Held by two, they hang on neither; the class is all that they have in common.
    let mut references: Vec<(u64, u64)> = (3..103).flat_map(|small| [(1, small), (2, small)]).collect();
    references.push((1, 2));
    let graph = heap(102, &[1, 2], &references, |id| if id < 3 { 1 } else { 2 });
    let piles = suspects(&graph, &Dominators::of(&graph).unwrap(), 0.2, 10);
    assert_eq!((piles.len(), piles[0].holder, piles[0].bytes), (1, None, 1600));
}
