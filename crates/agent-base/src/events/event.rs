//! What happens on a thread, packed into the fixed records that buffers carry.

use trace::ids::ObjectId;
use trace::model::WaitEnd;

use super::pool::Record;
use crate::clock::Ticks;
use crate::ids::{ClassIndex, StackIndex, ThreadIndex};

/// How large an allocated object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationSize {
    /// An instance: the class knows its size.
    Instance,
    /// An array of that length: the class knows the rest.
    Array(u32),
    /// As the VM says: size in units of eight bytes.
    Words(u32),
}

/// By what means a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// A monitor.
    Monitor,
    /// `LockSupport.park`.
    Park,
    /// A park that was seen by looks at intervals.
    SeenPark,
}

/// An event, without its time.
#[expect(missing_docs, reason = "the fields are what each variant speaks of")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An object was allocated.
    Alloc { object: ObjectId, class: ClassIndex, size: AllocationSize, stack: StackIndex },
    /// What follows in this buffer happened on that thread (a virtual thread was mounted or unmounted).
    Switch(ThreadIndex),
    /// A thread started, or was found.
    ThreadStart(ThreadIndex),
    /// A thread ended.
    ThreadEnd(ThreadIndex),
    /// The VM is initialised; reporting begins.
    InitDone(ThreadIndex),
    /// What the JVM accounts to a platform thread since reporting began; `None` if it does not say.
    Account { thread: ThreadIndex, vm_bytes: Option<u64> },
    /// All that was counted on a platform thread since reporting began, by a source that pushes no `Alloc`. Comes before
    /// the thread's `Account`.
    Counted { thread: ThreadIndex, instances: u64, bytes: u64 },
    /// An object that was allocated unreported, to which later events refer.
    Found { object: ObjectId, class: ClassIndex, words: u32 },
    /// The owner of the lock of the `Enter` that follows, and the owner's stack.
    Owner { thread: ThreadIndex, stack: StackIndex },
    /// How long the `Wait` that follows may take; `nanos` is set for parks only.
    Limit { millis: u64, nanos: u64 },
    /// A thread blocks on a lock.
    Enter { object: ObjectId, thread: ThreadIndex, stack: StackIndex, kind: WaitKind },
    /// A thread got the monitor that it was blocked on.
    Entered { object: ObjectId, thread: ThreadIndex },
    /// A thread begins to wait.
    Wait { object: ObjectId, thread: ThreadIndex, stack: StackIndex, kind: WaitKind },
    /// A thread's `Object.wait` ended.
    Waited { object: ObjectId, thread: ThreadIndex, reason: WaitEnd },
    /// A thread's park ended, whether it waited for a lock or something else.
    Unparked { thread: ThreadIndex, interrupted: bool },
    /// A thread begins to sleep.
    Sleep { thread: ThreadIndex, stack: StackIndex },
    /// A thread has slept.
    Slept(ThreadIndex),
    /// Nanoseconds that a platform thread has run on a processor, and that it has waited for one (`None` if the system does not
    /// say), since reporting began.
    ProcessorTime { thread: ThreadIndex, cpu: u64, queued: Option<u64> },
    /// The number of the answer to a data request, which `Locks` keeps.
    Snapshot(u32),
    /// A thread entered a method for the first time that the user named: which of them.
    Mark { thread: ThreadIndex, mark: u32 },
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
const FOUND: u64 = 9;
const OWNER: u64 = 10;
const LIMIT: u64 = 11;
const ENTER: u64 = 12;
const ENTERED: u64 = 13;
const WAIT: u64 = 14;
const WAITED: u64 = 15;
const UNPARKED: u64 = 16;
const SNAPSHOT: u64 = 17;
const SLEEP: u64 = 18;
const SLEPT: u64 = 19;
const PROCESSOR_TIME: u64 = 20;
const MARK: u64 = 21;

/// Means that the JVM does not give the account, or the system the time.
const UNKNOWN: u64 = u64::MAX;

impl Event {
    /// Packs the event and its time.
    #[inline]
    pub fn pack(self, time: Ticks) -> Record {
        let thread = |kind, thread: ThreadIndex| [time.0, u64::from(thread.0), 0, kind << 32];
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let of = |kind, wait_kind: WaitKind| kind << 32 | wait_kind as u64;
        match self {
            Event::Alloc { object, class, size, stack } => {
                let (kind, number) = match size {
                    AllocationSize::Instance => (INSTANCE, 0),
                    AllocationSize::Array(length) => (ARRAY, length),
                    AllocationSize::Words(words) => (WORDS, words),
                };
                let class = u64::from(class.0) << 32 | u64::from(number);
                [time.0, object.0, class, kind << 32 | u64::from(stack.0)]
            }
            Event::Switch(t) => thread(SWITCH, t),
            Event::ThreadStart(t) => thread(THREAD_START, t),
            Event::ThreadEnd(t) => thread(THREAD_END, t),
            Event::InitDone(t) => thread(INIT_DONE, t),
            Event::Account { thread, vm_bytes } => {
                [time.0, vm_bytes.unwrap_or(UNKNOWN), 0, ACCOUNT << 32 | u64::from(thread.0)]
            }
            Event::Counted { thread, instances, bytes } => {
                [time.0, instances, bytes, COUNTED << 32 | u64::from(thread.0)]
            }
            Event::Found { object, class, words } => [time.0, object.0, pair(class.0, words), FOUND << 32],
            Event::Owner { thread, stack } => [time.0, 0, pair(thread.0, stack.0), OWNER << 32],
            Event::Limit { millis, nanos } => [time.0, millis, nanos, LIMIT << 32],
            Event::Enter { object, thread, stack, kind } => {
                [time.0, object.0, pair(thread.0, stack.0), of(ENTER, kind)]
            }
            Event::Entered { object, thread } => [time.0, object.0, pair(thread.0, 0), ENTERED << 32],
            Event::Wait { object, thread, stack, kind } => [time.0, object.0, pair(thread.0, stack.0), of(WAIT, kind)],
            Event::Waited { object, thread, reason } => {
                [time.0, object.0, pair(thread.0, 0), WAITED << 32 | reason as u64]
            }
            Event::Unparked { thread, interrupted } => {
                [time.0, u64::from(interrupted), pair(thread.0, 0), UNPARKED << 32]
            }
            Event::Mark { thread, mark } => [time.0, u64::from(mark), pair(thread.0, 0), MARK << 32],
            Event::Snapshot(number) => [time.0, u64::from(number), 0, SNAPSHOT << 32],
            Event::Sleep { thread, stack } => [time.0, 0, pair(thread.0, stack.0), SLEEP << 32],
            Event::Slept(t) => thread(SLEPT, t),
            Event::ProcessorTime { thread, cpu, queued } => {
                [time.0, cpu, queued.unwrap_or(UNKNOWN), PROCESSOR_TIME << 32 | u64::from(thread.0)]
            }
        }
    }

    /// The time of a packed event.
    #[inline]
    pub fn time(record: &Record) -> Ticks {
        Ticks(record[0])
    }

    /// Unpacks what `pack` packed.
    #[inline]
    pub fn unpack(record: &Record) -> Event {
        let [_, id, class, kind] = *record;
        let thread = ThreadIndex(id as u32);
        let alloc = |size| Event::Alloc {
            object: ObjectId(id),
            class: ClassIndex((class >> 32) as u32),
            size,
            stack: StackIndex(kind as u32),
        };
        let (object, high, low) = (ObjectId(id), (class >> 32) as u32, class as u32);
        let (waiting, stack) = (ThreadIndex(high), StackIndex(low));
        let wait_kind = match kind as u32 {
            0 => WaitKind::Monitor,
            1 => WaitKind::Park,
            _ => WaitKind::SeenPark,
        };
        match kind >> 32 {
            INSTANCE => alloc(AllocationSize::Instance),
            ARRAY => alloc(AllocationSize::Array(class as u32)),
            WORDS => alloc(AllocationSize::Words(class as u32)),
            SWITCH => Event::Switch(thread),
            THREAD_START => Event::ThreadStart(thread),
            THREAD_END => Event::ThreadEnd(thread),
            ACCOUNT => {
                Event::Account { thread: ThreadIndex(kind as u32), vm_bytes: Some(id).filter(|&b| b != UNKNOWN) }
            }
            FOUND => Event::Found { object, class: ClassIndex(high), words: low },
            OWNER => Event::Owner { thread: waiting, stack },
            LIMIT => Event::Limit { millis: id, nanos: class },
            ENTER => Event::Enter { object, thread: waiting, stack, kind: wait_kind },
            ENTERED => Event::Entered { object, thread: waiting },
            WAIT => Event::Wait { object, thread: waiting, stack, kind: wait_kind },
            WAITED => {
                let reason = WaitEnd::ALL.get(kind as u32 as usize).copied().unwrap_or_default();
                Event::Waited { object, thread: waiting, reason }
            }
            UNPARKED => Event::Unparked { thread: waiting, interrupted: id != 0 },
            MARK => Event::Mark { thread: waiting, mark: id as u32 },
            SNAPSHOT => Event::Snapshot(id as u32),
            SLEEP => Event::Sleep { thread: waiting, stack },
            SLEPT => Event::Slept(thread),
            PROCESSOR_TIME => {
                let queued = Some(class).filter(|&queued| queued != UNKNOWN);
                Event::ProcessorTime { thread: ThreadIndex(kind as u32), cpu: id, queued }
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
        let size = prop_oneof![
            Just(AllocationSize::Instance),
            any::<u32>().prop_map(AllocationSize::Array),
            any::<u32>().prop_map(AllocationSize::Words)
        ];
        let alloc = (any::<u64>(), any::<u32>(), size, any::<u32>()).prop_map(|(object, class, size, stack)| {
            Event::Alloc { object: ObjectId(object), class: ClassIndex(class), size, stack: StackIndex(stack) }
        });
        let thread = any::<u32>().prop_map(ThreadIndex);
        let object = any::<u64>().prop_map(ObjectId);
        let stack = any::<u32>().prop_map(StackIndex);
        let wait_kind = prop::sample::select(vec![WaitKind::Monitor, WaitKind::Park, WaitKind::SeenPark]);
        let blocks = (object.clone(), thread.clone(), stack.clone(), wait_kind).boxed();
        prop_oneof![
            alloc,
            thread.clone().prop_map(Event::Switch),
            thread.clone().prop_map(Event::ThreadStart),
            thread.clone().prop_map(Event::ThreadEnd),
            thread.clone().prop_map(Event::InitDone),
            (object.clone(), any::<u32>(), any::<u32>()).prop_map(|(object, class, words)| Event::Found {
                object,
                class: ClassIndex(class),
                words
            }),
            (thread.clone(), stack.clone()).prop_map(|(thread, stack)| Event::Owner { thread, stack }),
            any::<(u64, u64)>().prop_map(|(millis, nanos)| Event::Limit { millis, nanos }),
            blocks.clone().prop_map(|(object, thread, stack, kind)| Event::Enter { object, thread, stack, kind }),
            blocks.prop_map(|(object, thread, stack, kind)| Event::Wait { object, thread, stack, kind }),
            (object.clone(), thread.clone()).prop_map(|(object, thread)| Event::Entered { object, thread }),
            (object, thread.clone(), prop::sample::select(WaitEnd::ALL))
                .prop_map(|(object, thread, reason)| Event::Waited { object, thread, reason }),
            (thread.clone(), any::<bool>()).prop_map(|(thread, interrupted)| Event::Unparked { thread, interrupted }),
            any::<u32>().prop_map(Event::Snapshot),
            (thread.clone(), any::<u32>()).prop_map(|(thread, mark)| Event::Mark { thread, mark }),
            (thread.clone(), stack).prop_map(|(thread, stack)| Event::Sleep { thread, stack }),
            thread.clone().prop_map(Event::Slept),
            (thread.clone(), any::<u64>(), prop::option::of(0..u64::MAX))
                .prop_map(|(thread, cpu, queued)| Event::ProcessorTime { thread, cpu, queued }),
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
