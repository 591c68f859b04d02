//! What happens on a thread, packed into the fixed records that buffers carry.

use trace::ids::ObjectId;

use super::buffer::Record;
use super::classes::ClassIndex;
use super::clock::Ticks;
use super::stacks::StackIndex;
use super::threads::ThreadIndex;

/// How large an allocated object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// An instance: the class knows its size.
    Instance,
    /// An array of that length: the class knows the rest.
    Array(u32),
    /// The VM's word: size in units of eight bytes.
    Words(u32),
}

/// An event, without its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An object was allocated.
    Alloc { object: ObjectId, class: ClassIndex, extent: Extent, stack: StackIndex },
    /// What follows in this buffer happened on that thread (a virtual thread was mounted or unmounted).
    Switch(ThreadIndex),
    /// A thread is there.
    ThreadStart(ThreadIndex),
    /// A thread ended.
    ThreadEnd(ThreadIndex),
    /// The VM is initialised; reporting begins.
    InitDone(ThreadIndex),
    /// What the JVM accounts to a platform thread since reporting began; `None` if it does not say.
    Account { thread: ThreadIndex, vm_bytes: Option<u64> },
    /// All that was reported of a platform thread since reporting began, by an engine that pushes no `Alloc`. Comes before
    /// the thread's `Account`.
    Counted { thread: ThreadIndex, instances: u64, bytes: u64 },
}

const INSTANCE: u64 = 0;
const ARRAY: u64 = 1;
const WORDS: u64 = 2;
const SWITCH: u64 = 3;
const THREAD_START: u64 = 4;
const THREAD_END: u64 = 5;
const INIT_DONE: u64 = 6;
const ACCOUNT: u64 = 7;
const COUNTED: u64 = 8;

/// Stands for an account that the JVM does not give.
const NO_ACCOUNT: u64 = u64::MAX;

impl Event {
    /// Packs the event and its time.
    #[inline]
    pub(crate) fn pack(self, time: Ticks) -> Record {
        let thread = |kind, thread: ThreadIndex| [time.0, u64::from(thread.0), 0, kind << 32];
        match self {
            Event::Alloc { object, class, extent, stack } => {
                let (kind, number) = match extent {
                    Extent::Instance => (INSTANCE, 0),
                    Extent::Array(length) => (ARRAY, length),
                    Extent::Words(words) => (WORDS, words),
                };
                let class = u64::from(class.0) << 32 | u64::from(number);
                [time.0, object.0, class, kind << 32 | u64::from(stack.0)]
            }
            Event::Switch(t) => thread(SWITCH, t),
            Event::ThreadStart(t) => thread(THREAD_START, t),
            Event::ThreadEnd(t) => thread(THREAD_END, t),
            Event::InitDone(t) => thread(INIT_DONE, t),
            Event::Account { thread, vm_bytes } => {
                [time.0, vm_bytes.unwrap_or(NO_ACCOUNT), 0, ACCOUNT << 32 | u64::from(thread.0)]
            }
            Event::Counted { thread, instances, bytes } => {
                [time.0, instances, bytes, COUNTED << 32 | u64::from(thread.0)]
            }
        }
    }

    /// The time of a packed event.
    #[inline]
    pub(crate) fn time(record: &Record) -> Ticks {
        Ticks(record[0])
    }

    /// Unpacks what `pack` packed.
    #[inline]
    pub(crate) fn unpack(record: &Record) -> Event {
        let [_, id, class, kind] = *record;
        let thread = ThreadIndex(id as u32);
        let alloc = |extent| Event::Alloc {
            object: ObjectId(id),
            class: ClassIndex((class >> 32) as u32),
            extent,
            stack: StackIndex(kind as u32),
        };
        match kind >> 32 {
            INSTANCE => alloc(Extent::Instance),
            ARRAY => alloc(Extent::Array(class as u32)),
            WORDS => alloc(Extent::Words(class as u32)),
            SWITCH => Event::Switch(thread),
            THREAD_START => Event::ThreadStart(thread),
            THREAD_END => Event::ThreadEnd(thread),
            ACCOUNT => {
                Event::Account { thread: ThreadIndex(kind as u32), vm_bytes: Some(id).filter(|&b| b != NO_ACCOUNT) }
            }
            COUNTED => Event::Counted { thread: ThreadIndex(kind as u32), instances: id, bytes: class },
            _ => Event::InitDone(thread),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event() -> impl Strategy<Value = Event> {
        let extent = prop_oneof![
            Just(Extent::Instance),
            any::<u32>().prop_map(Extent::Array),
            any::<u32>().prop_map(Extent::Words)
        ];
        let alloc = (any::<u64>(), any::<u32>(), extent, any::<u32>()).prop_map(|(object, class, extent, stack)| {
            Event::Alloc { object: ObjectId(object), class: ClassIndex(class), extent, stack: StackIndex(stack) }
        });
        let thread = any::<u32>().prop_map(ThreadIndex);
        prop_oneof![
            alloc,
            thread.clone().prop_map(Event::Switch),
            thread.clone().prop_map(Event::ThreadStart),
            thread.clone().prop_map(Event::ThreadEnd),
            thread.clone().prop_map(Event::InitDone),
            (thread.clone(), prop::option::of(0..u64::MAX))
                .prop_map(|(thread, vm_bytes)| Event::Account { thread, vm_bytes }),
            (thread, any::<u64>(), any::<u64>()).prop_map(|(thread, instances, bytes)| Event::Counted {
                thread,
                instances,
                bytes
            }),
        ]
    }

    proptest! {
        #[test]
        fn unpacking_undoes_packing(event in event(), ticks: u64) {
            let record = event.pack(Ticks(ticks));
            prop_assert_eq!(Event::unpack(&record), event);
            prop_assert_eq!(Event::time(&record), Ticks(ticks));
        }
    }
}
