//! A dump without some of its global references is the dump that would have been written without them.

use std::io::Write as _;
use std::os::unix::fs::FileExt;

use hprof::patch::take_globals;
use hprof::read::{ClassDump, Reader, Root};
use hprof::write::Writer;
use hprof::{BasicType, ClassSerial, NameId, ObjectId, RootKind, StackSerial};
use proptest::prelude::*;

/// References above this are to go.
const OWN: u64 = 1 << 40;

/// One thing in the heap: a root, or an object with so many bytes.
#[derive(Clone, Copy, Debug)]
enum Item {
    Global(u64),
    Own(u64),
    Local(u64),
    Bytes(u64, u32),
}

fn dump(items: &[Item]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), 7).unwrap();
    writer.name(NameId(1), b"name").unwrap();
    writer.load_class(ClassSerial(1), ObjectId(8), StackSerial(1), NameId(1)).unwrap();
    let class = ClassDump { id: ObjectId(8), fields: vec![(NameId(1), BasicType::Object)], ..ClassDump::default() };
    writer.class(&class).unwrap();
    for &item in items {
        let root = |kind, object| Root { kind, object: ObjectId(object), thread: None, stack: None, frame: None };
        match item {
            Item::Global(object) => writer.root(&root(RootKind::JniGlobal, object)).unwrap(),
            Item::Own(object) => writer.root(&root(RootKind::JniGlobal, OWN + object)).unwrap(),
            Item::Local(object) => writer.root(&root(RootKind::JniLocal, OWN + object)).unwrap(),
            Item::Bytes(object, length) => {
                writer.instance(ObjectId(object), StackSerial(1), ObjectId(8), &object.to_be_bytes()).unwrap();
                writer.object_array(ObjectId(object), StackSerial(1), ObjectId(8), 3).unwrap();
                writer.elements((0..3).map(ObjectId)).unwrap();
                writer.primitive_array(ObjectId(object), StackSerial(1), BasicType::Long, length).unwrap();
                writer.contents(&vec![7; length as usize * 8]).unwrap();
            }
        }
    }
    writer.finish().unwrap()
}

/// The dump without our references, and which these were.
fn without_own(bytes: &[u8]) -> (Vec<u8>, Vec<(u64, u64)>) {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let mut found = Vec::new();
    take_globals(&file, |reference, object| {
        let is_own = reference > OWN;
        found.extend(is_own.then_some((reference, object.0)));
        is_own
    })
    .unwrap();
    let mut left = vec![0; file.metadata().unwrap().len() as usize];
    file.read_exact_at(&mut left, 0).unwrap();
    (left, found)
}

/// All records, however they are spread over segments.
fn records(dump: &[u8]) -> Vec<String> {
    let mut reader = Reader::new(dump).unwrap();
    let mut all = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        all.push(format!("{record:?}"));
    }
    all
}

fn check(items: &[Item]) {
    let (left, found) = without_own(&dump(items));
    let others: Vec<Item> = items.iter().copied().filter(|item| !matches!(item, Item::Own(_))).collect();
    assert_eq!(records(&left), records(&dump(&others)));
    let own = items.iter().filter_map(|item| if let Item::Own(own) = item { Some(OWN + own) } else { None });
    // The writer gives a reference the number of its object.
    assert!(found.into_iter().eq(own.map(|own| (own, own))));
}

fn item() -> impl Strategy<Value = Item> {
    prop_oneof![
        3 => (1u64..100).prop_map(Item::Own),
        1 => (1u64..100).prop_map(Item::Global),
        1 => (1u64..100).prop_map(Item::Local),
        1 => (1u64..100, 0u32..9).prop_map(|(object, length)| Item::Bytes(object, length)),
    ]
}

proptest! {
    #[test]
    fn only_ours_are_gone(items in prop::collection::vec(item(), 0..60)) {
        check(&items);
    }
}

#[test]
fn dumps_of_many_segments_get_shorter_too() {
    let item = |n: u64| match n % 1000 {
        0 => Item::Bytes(n + 1, 100_000),
        1..=5 => Item::Global(n),
        6 => Item::Local(n),
        _ => Item::Own(n),
    };
    let items: Vec<Item> = (0..200_000).map(item).collect();
    let whole = dump(&items);
    assert!(without_own(&whole).0.len() + 17 * 190_000 < whole.len());
    check(&items);
    check(&[Item::Own(1); 100_000]);
}
