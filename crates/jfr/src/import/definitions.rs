//! The ids of a trace: each thing is defined before it is named first.

use trace::ids::{ClassId, FunctionId, MethodId, ObjectId, StackId, ThreadId};
use trace::model::{ClassDef, Frames, FunctionDef, MethodDef, ObjAlloc, Record, StackDef, ThreadKind, ThreadStart};
use trace::time::Time;
use trace::writer::XmlWriter;

use super::pools::{ClassAt, FunctionAt, LockAt, MethodAt, Pools, StackAt, ThreadAt};

/// Writes elements, and what they name in front of them.
pub(super) struct Definitions<'p> {
    pools: &'p Pools,
    pub(super) out: XmlWriter,
    begin: Time,
    last: u64,
    classes: Vec<u64>,
    methods: Vec<u64>,
    functions: Vec<u64>,
    stacks: Vec<u64>,
    threads: Vec<u64>,
    locks: Vec<u64>,
}

impl<'p> Definitions<'p> {
    pub(super) fn new(pools: &'p Pools, begin: Time) -> Self {
        Definitions {
            pools,
            out: XmlWriter::default(),
            begin,
            last: 0,
            classes: vec![0; pools.classes.len()],
            methods: vec![0; pools.methods.len()],
            functions: vec![0; pools.functions.len()],
            stacks: vec![0; pools.stacks.len()],
            threads: vec![0; pools.threads.len()],
            locks: vec![0; pools.locks.len()],
        }
    }

    pub(super) fn write(&mut self, record: &impl Record) {
        self.out.write(record);
    }

    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub(super) fn class(&mut self, at: ClassAt) -> ClassId {
        if self.classes[at.0 as usize] == 0 {
            let (id, class) = (self.next(), self.pools.classes.get(at.0));
            self.classes[at.0 as usize] = id;
            self.out.write(&ClassDef {
                thread: None,
                name: (&*class.name).into(),
                source_name: None,
                class_id: ClassId(id),
                object: None,
                time: self.begin,
                module: (!class.module.is_empty()).then(|| (&*class.module).into()),
            });
        }
        ClassId(self.classes[at.0 as usize])
    }

    pub(super) fn method(&mut self, at: MethodAt) -> MethodId {
        if self.methods[at.0 as usize] == 0 {
            let method = self.pools.methods.get(at.0);
            let class = self.class(method.class);
            let id = self.next();
            self.methods[at.0 as usize] = id;
            self.out.write(&MethodDef {
                name: (&*method.name).into(),
                signature: (&*method.descriptor).into(),
                start_line: None,
                end_line: None,
                method_id: MethodId(id),
                class,
            });
        }
        MethodId(self.methods[at.0 as usize])
    }

    pub(super) fn function(&mut self, at: FunctionAt) -> FunctionId {
        if self.functions[at.0 as usize] == 0 {
            let (id, (name, library)) = (self.next(), self.pools.functions.get(at.0));
            self.functions[at.0 as usize] = id;
            self.out.write(&FunctionDef {
                function_id: FunctionId(id),
                name: (&**name).into(),
                library: (!library.is_empty()).then(|| (&**library).into()),
            });
        }
        FunctionId(self.functions[at.0 as usize])
    }

    pub(super) fn stack(&mut self, at: StackAt) -> StackId {
        if self.stacks[at.0 as usize] == 0 {
            let frames = self.pools.stacks.get(at.0).iter();
            let frames: Vec<trace::model::Frame> = frames
                .map(|frame| trace::model::Frame { method: self.method(frame.method), line: frame.line })
                .collect();
            let id = self.next();
            self.stacks[at.0 as usize] = id;
            self.out.write(&StackDef { stack_id: StackId(id), frames: Frames(frames.into()), types: None });
        }
        StackId(self.stacks[at.0 as usize])
    }

    /// A thread that was there already.
    pub(super) fn thread(&mut self, at: ThreadAt) -> ThreadId {
        self.thread_since(at, self.begin)
    }

    /// A thread that starts at a time, unless it is known.
    pub(super) fn thread_since(&mut self, at: ThreadAt, time: Time) -> ThreadId {
        if self.threads[at.0 as usize] == 0 {
            let (id, names) = (self.next(), &self.pools.thread_names[at.0 as usize]);
            self.threads[at.0 as usize] = id;
            let is_java = self.pools.threads.get(at.0).java_id != 0;
            self.out.write(&ThreadStart {
                thread_id: ThreadId(id),
                time,
                thread_name: (&*names.name).into(),
                group_name: (&*names.group).into(),
                parent_name: (&*names.parent).into(),
                object: None,
                kind: (!is_java).then_some(ThreadKind::Native),
            });
        }
        ThreadId(self.threads[at.0 as usize])
    }

    /// Whether a thread is defined already.
    pub(super) fn is_known(&self, at: ThreadAt) -> bool {
        self.threads[at.0 as usize] != 0
    }

    /// A lock, which is an object that was there already; how large it is nobody knows.
    pub(super) fn lock(&mut self, at: LockAt, time: Time) -> ObjectId {
        if self.locks[at.0 as usize] == 0 {
            let lock = self.pools.locks.get(at.0);
            let class = self.class(lock.class);
            let id = self.next();
            self.locks[at.0 as usize] = id;
            self.out.write(&ObjAlloc {
                thread: None,
                is_array: Some(self.pools.classes.get(lock.class.0).array),
                size: 0,
                obj_id: ObjectId(id),
                class,
                method: None,
                line: None,
                stack: None,
                time,
            });
        }
        ObjectId(self.locks[at.0 as usize])
    }
}
