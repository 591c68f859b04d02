//! What the agent knows of a dump that the VM has just written.

use std::fs::File;

use trace::ids::{HeapDumpId, ObjectId};

use super::id_map::IdMap;
use agent_base::clock::Ticks;
use agent_base::ids::{ClassIndex, GcNumber, ThreadIndex};

/// A class in the dump.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DumpedClass {
    pub(crate) address: u64,
    pub(crate) index: ClassIndex,
    /// Bytes of the class object.
    pub(crate) bytes: u64,
    /// Bytes of an instance that is no array; 0 if there is none.
    pub(crate) instance_bytes: u32,
}

/// The VM's dump: a file without a name, which goes when it is closed.
#[derive(Debug)]
pub(crate) struct VmDump(pub(crate) File);

/// A dump, and what relates it to the trace.
#[derive(Debug)]
pub(crate) struct DumpData {
    pub(crate) id: HeapDumpId,
    /// Its name in the trace.
    pub(crate) name: String,
    pub(crate) time: Ticks,
    /// Collections that had ended.
    pub(crate) collections: GcNumber,
    /// The first id given after so many collections.
    pub(crate) generations: Vec<(ObjectId, u64)>,
    pub(crate) classes: Vec<DumpedClass>,
    pub(crate) threads: Vec<(u64, ThreadIndex)>,
    /// Tags of the objects that are tracked.
    pub(crate) tags: IdMap,
    /// Which objects have no id of the trace although it has them, and why. Empty if there are none.
    pub(crate) without_ids: String,
    /// The VM's dump, for the trace.
    pub(crate) base: Option<VmDump>,
}
