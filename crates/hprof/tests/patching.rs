//! A dump that is changed where it lies is, byte by byte, the dump that would have been written so in the first place.

use std::io::Write as _;

use hprof::patch::{Changes, patch};
use hprof::read::{ClassDump, Root};
use hprof::write::Writer;
use hprof::{BasicType, ClassSerial, NameId, ObjectId, RootKind, StackSerial, Value};
use proptest::prelude::*;

/// Objects of odd number get other ids, and stacks of their own.
#[derive(Clone, Copy)]
struct Other {
    zeroes: bool,
}

impl Changes for Other {
    fn id(&self, object: ObjectId) -> ObjectId {
        self.object(object).0
    }

    fn object(&self, object: ObjectId) -> (ObjectId, Option<StackSerial>) {
        match object.0 % 2 {
            0 => (object, None),
            _ => (ObjectId(object.0 ^ 1 << 62), Some(StackSerial(object.0 as u32))),
        }
    }

    fn zeroes(&self) -> bool {
        self.zeroes
    }
}

#[derive(Clone, Debug)]
enum Item {
    Root(u64),
    Instance(u64, u64, [u64; 3]),
    Objects(u64, Vec<u64>),
    Primitives(u64, BasicType, usize),
}

const CHILD: u64 = 1001;
const PARENT: u64 = 1002;
const KINDS: [RootKind; 9] = [
    RootKind::JniGlobal,
    RootKind::JniLocal,
    RootKind::JavaFrame,
    RootKind::NativeStack,
    RootKind::StickyClass,
    RootKind::ThreadBlock,
    RootKind::MonitorUsed,
    RootKind::ThreadObject,
    RootKind::Unknown,
];

/// The dump of these objects, as `Other` would have it or as it is without.
fn dump(items: &[Item], other: Option<Other>) -> Vec<u8> {
    let id = |id: u64| match other {
        Some(other) if id != 0 => other.id(ObjectId(id)),
        _ => ObjectId(id),
    };
    let stack = |id: u64| other.and_then(|other| other.object(ObjectId(id)).1).unwrap_or(StackSerial(1));
    let zeroes = other.is_some_and(|other| other.zeroes);
    let bits = |bits: u64| if zeroes { 0 } else { bits };
    let mut writer = Writer::new(Vec::new(), 7).unwrap();
    writer.name(NameId(1), b"name").unwrap();
    for (serial, class) in [(1, CHILD), (2, PARENT)] {
        writer.load_class(ClassSerial(serial), id(class), StackSerial(1), NameId(1)).unwrap();
    }
    for (class, superclass, fields) in [
        (PARENT, 0, vec![(NameId(1), BasicType::Object), (NameId(2), BasicType::Short)]),
        (
            CHILD,
            PARENT,
            vec![(NameId(1), BasicType::Int), (NameId(2), BasicType::Object), (NameId(1), BasicType::Object)],
        ),
    ] {
        let class = ClassDump {
            id: id(class),
            stack: StackSerial(1),
            superclass: id(superclass),
            loader: id(5),
            signers: id(0),
            domain: id(6),
            instance_size: 4,
            constants: vec![(3, Value { kind: BasicType::Char, bits: bits(9) })],
            statics: vec![
                (NameId(1), Value { kind: BasicType::Object, bits: id(7).0 }),
                (NameId(1), Value { kind: BasicType::Long, bits: bits(77) }),
                (NameId(1), Value { kind: BasicType::Object, bits: 0 }),
            ],
            fields,
        };
        writer.class(&class).unwrap();
    }
    for item in items {
        match item {
            Item::Root(object) => {
                let kind = KINDS[*object as usize % KINDS.len()];
                let root = Root { kind, object: id(*object), thread: None, stack: None, frame: None };
                // What stands behind a global reference is its own place, which stays.
                if kind != RootKind::JniGlobal {
                    writer.root(&root).unwrap();
                }
            }
            Item::Instance(object, number, [one, two, three]) => {
                let mut fields = (bits(*number) as u32).to_be_bytes().to_vec();
                fields.extend([*one, *two, *three].iter().flat_map(|&to| id(to).0.to_be_bytes()));
                fields.extend((bits(*number) as u16).to_be_bytes());
                writer.instance(id(*object), stack(*object), id(CHILD), &fields).unwrap();
            }
            Item::Objects(object, elements) => {
                writer.object_array(id(*object), stack(*object), id(CHILD), elements.len() as u32).unwrap();
                writer.elements(elements.iter().map(|&element| id(element))).unwrap();
            }
            Item::Primitives(object, kind, length) => {
                writer.primitive_array(id(*object), stack(*object), *kind, *length as u32).unwrap();
                let contents: Vec<u8> = (0..length * kind.size(8)).map(|n| bits(n as u64) as u8).collect();
                writer.contents(&contents).unwrap();
            }
        }
    }
    writer.finish().unwrap()
}

fn patched(dump: &[u8], other: Other, threads: usize) -> (Vec<u8>, hprof::patch::Patched) {
    let mut file = tempfile();
    file.write_all(dump).unwrap();
    let result = patch(&file, &other, threads).expect("the dump is whole");
    let mut bytes = vec![0; dump.len()];
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut bytes, 0).unwrap();
    (bytes, result)
}

/// A file without a name.
fn tempfile() -> std::fs::File {
    tempfile::tempfile().expect("there is room for a file")
}

fn item() -> impl Strategy<Value = Item> {
    let id = || 1u64..5000;
    let reference = || prop_oneof![Just(0), 1u64..5000];
    let references = |most| prop::collection::vec(prop_oneof![Just(0), 1u64..5000], 0..most);
    let kind = prop::sample::select(vec![BasicType::Byte, BasicType::Char, BasicType::Int, BasicType::Double]);
    prop_oneof![
        id().prop_map(Item::Root),
        (id(), any::<u64>(), [reference(), reference(), reference()])
            .prop_map(|(id, number, to)| Item::Instance(id, number, to)),
        (id(), references(20)).prop_map(|(id, elements)| Item::Objects(id, elements)),
        (id(), kind, 0usize..40).prop_map(|(id, kind, length)| Item::Primitives(id, kind, length)),
    ]
}

proptest! {
    #[test]
    fn it_is_the_dump_that_would_have_been_written(items in prop::collection::vec(item(), 0..60), zeroes: bool) {
        let other = Other { zeroes };
        let before = dump(&items, None);
        let (bytes, patched) = patched(&before, other, 1);
        prop_assert_eq!(&bytes, &dump(&items, Some(other)));
        prop_assert_eq!(patched.end as usize, before.len() - 9);
        prop_assert_eq!(patched.serials[&ObjectId(CHILD)], ClassSerial(1));
    }
}

/// HotSpot with Shenandoah may write objects of classes that it is unloading, which are not in the dump.
#[test]
fn an_object_without_class_has_no_fields_that_could_be_wrong() {
    let write = |id: fn(u64) -> u64, stack: u32, fields: [u8; 11]| {
        let mut writer = Writer::new(Vec::new(), 7).unwrap();
        writer.instance(ObjectId(id(3)), StackSerial(stack), ObjectId(id(77)), &fields).unwrap();
        writer.primitive_array(ObjectId(4), StackSerial(1), BasicType::Byte, 1).unwrap();
        writer.contents(&[5]).unwrap();
        writer.finish().unwrap()
    };
    let (bytes, patched) = patched(&write(|id| id, 1, [9; 11]), Other { zeroes: false }, 1);
    assert_eq!(bytes, write(|id| id ^ 1 << 62, 3, [0; 11]));
    assert_eq!(patched.classless, 1);
}

#[test]
fn arrays_of_any_length_are_changed_in_pieces() {
    let references = (0..700_000u64).map(|n| n % 9).collect();
    let items = [
        Item::Objects(11, references),
        Item::Primitives(13, BasicType::Long, 500_000),
        Item::Instance(15, 0x1234_5678, [1, 2, 3]),
    ];
    let items: Vec<Item> = items.iter().cycle().take(12).cloned().collect();
    for zeroes in [false, true] {
        let (bytes, _) = patched(&dump(&items, None), Other { zeroes }, 3);
        assert!(bytes == dump(&items, Some(Other { zeroes })));
    }
}

#[test]
fn a_damaged_dump_is_refused() {
    let whole = dump(&[Item::Objects(11, vec![1, 2]), Item::Instance(15, 1, [1, 2, 3])], None);
    for cut in 0..whole.len() - 1 {
        let mut file = tempfile();
        file.write_all(&whole[..cut]).unwrap();
        assert!(patch(&file, &Other { zeroes: true }, 1).is_err(), "cut at {cut}");
    }
    for place in 31..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 0xff;
        let mut file = tempfile();
        file.write_all(&bytes).unwrap();
        // Whatever it says, it says it soon, and without a panic.
        let _ = patch(&file, &Other { zeroes: true }, 1);
    }
}
