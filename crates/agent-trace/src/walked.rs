//! What the walker and the symbols of native code find, as the trace defines it: stacks, methods, functions.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use trace::ids::{ClassId, FunctionId, MethodId, StackId};
use trace::model::{ClassDef, Frame, FrameType, FrameTypes, Frames, FunctionDef, MethodDef, Record, StackDef, Tier};

use super::document::Document;
use agent_base::native_symbols::NativeSymbols;
use hotspot::walk::{self, FrameKind, MethodNames, MethodNumber, Walker};

/// Bytes of stacks that are kept to know them again; then all are forgotten, and defined again when they come.
const MOST_STACK_BYTES: usize = 8 << 20;
/// Bytes of a stack beside its frames, about.
const BYTES_OF_STACK: usize = 64;

/// The ids of stacks, by their frames.
#[derive(Default)]
struct KnownStacks {
    ids: FxHashMap<Box<[walk::Frame]>, StackId>,
    bytes: usize,
}

impl KnownStacks {
    /// The id of a stack that has been defined.
    fn get(&self, frames: &[walk::Frame]) -> Option<StackId> {
        self.ids.get(frames).copied()
    }

    /// A stack is defined.
    fn add(&mut self, frames: &[walk::Frame], id: StackId) {
        let bytes = size_of_val(frames) + BYTES_OF_STACK;
        if self.bytes + bytes > MOST_STACK_BYTES {
            *self = KnownStacks::default();
        }
        self.bytes += bytes;
        self.ids.insert(frames.into(), id);
    }
}

/// All that was defined.
#[derive(Default)]
pub(super) struct Walked {
    stacks: KnownStacks,
    /// By the walker's number.
    methods: FxHashMap<u32, MethodId>,
    /// By the VM's name.
    classes: FxHashMap<Box<[u8]>, ClassId>,
    symbols: NativeSymbols,
    /// By the number that `symbols` gives.
    functions: FxHashMap<u32, FunctionId>,
}

impl Document {
    /// The id of a stack that the walker has found, which is defined if it is new; `None` for no frames.
    pub fn walked_stack(&mut self, walker: &Walker, frames: &[walk::Frame]) -> Option<StackId> {
        if frames.is_empty() {
            return None;
        }
        if let Some(known) = self.walked.stacks.get(frames) {
            return Some(known);
        }
        let stack_id = StackId(self.core.jvm.ids.next());
        let (mut defined, mut types) = (Vec::with_capacity(frames.len()), Vec::with_capacity(frames.len()));
        for frame in frames {
            let Some(method) = self.walked_method(walker, frame.method) else { continue };
            defined.push(Frame { method, line: frame.line.into() });
            types.push(frame_type(frame.kind));
        }
        let types = Some(FrameTypes(Cow::Owned(types)));
        let element = StackDef { stack_id, frames: Frames(Cow::Owned(defined)), types };
        self.emit(|out| element.write(out));
        self.walked.stacks.add(frames, stack_id);
        Some(stack_id)
    }

    fn walked_method(&mut self, walker: &Walker, number: MethodNumber) -> Option<MethodId> {
        if let Some(&known) = self.walked.methods.get(&number.0) {
            return Some(known);
        }
        let MethodNames { class, name, signature, source } = walker.method(number)?;
        let class = self.walked_class(class, source);
        let id = MethodId(self.core.jvm.ids.next());
        let name = trace::modified_utf8::decode(name);
        let element = MethodDef {
            name: Cow::Borrowed(trace::names::method_name(&name)),
            signature: Cow::Owned(trace::modified_utf8::decode(signature)),
            start_line: None,
            end_line: None,
            method_id: id,
            class,
        };
        self.emit(|out| element.write(out));
        self.walked.methods.insert(number.0, id);
        Some(id)
    }

    /// A class that the walker has met: it has an id of its own, whether other elements name that class too or not.
    fn walked_class(&mut self, name: &[u8], source: &[u8]) -> ClassId {
        if let Some(&known) = self.walked.classes.get(name) {
            return known;
        }
        let id = ClassId(self.core.jvm.ids.next());
        let element = ClassDef {
            thread: None,
            name: Cow::Owned(trace::names::class_name_of_internal(&trace::modified_utf8::decode(name))),
            source_name: (!source.is_empty()).then(|| Cow::Owned(trace::modified_utf8::decode(source))),
            class_id: id,
            object: None,
            time: self.core.clock.time(self.core.start),
            module: None,
        };
        self.emit(|out| element.write(out));
        self.walked.classes.insert(name.into(), id);
        id
    }

    /// The id of the native function at an address, which is defined if it is new; `None` if no file has that address: the VM has made
    /// the code.
    pub fn native_function(&mut self, pc: usize) -> Option<FunctionId> {
        let (number, function) = self.walked.symbols.resolve(pc);
        let library = function.library.as_deref()?;
        if let Some(&known) = self.walked.functions.get(&number.0) {
            return Some(known);
        }
        let function_id = FunctionId(self.core.jvm.ids.next());
        let (name, library) = (Cow::Borrowed(&*function.name), Some(Cow::Borrowed(library)));
        let element = FunctionDef { function_id, name, library };
        self.text.emit(|out| element.write(out));
        self.walked.functions.insert(number.0, function_id);
        Some(function_id)
    }
}

fn frame_type(kind: FrameKind) -> FrameType {
    match kind {
        FrameKind::Interpreted => FrameType::Interpreted,
        FrameKind::C1Tier1 => FrameType::C1(Tier::Simple),
        FrameKind::C1Tier2 => FrameType::C1(Tier::Limited),
        FrameKind::C1Tier3 => FrameType::C1(Tier::Full),
        FrameKind::C2 => FrameType::C2,
        FrameKind::Native => FrameType::Native,
        FrameKind::Inlined => FrameType::Inlined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_of_the_walker_are_those_of_the_trace() {
        let kinds = [
            FrameKind::Interpreted,
            FrameKind::C1Tier1,
            FrameKind::C1Tier2,
            FrameKind::C1Tier3,
            FrameKind::C2,
            FrameKind::Native,
            FrameKind::Inlined,
        ];
        for kind in kinds {
            assert!(FrameType::LETTERS.contains(&(frame_type(kind), kind.letter() as u8)), "{kind:?}");
        }
    }

    #[test]
    fn stacks_are_forgotten_before_they_take_too_much() {
        let mut stacks = KnownStacks::default();
        let frames = |number| vec![walk::Frame { method: MethodNumber(number), line: 1, kind: FrameKind::C2 }; 1000];
        for number in 0..10_000 {
            stacks.add(&frames(number), StackId(u64::from(number)));
            assert!(stacks.bytes <= MOST_STACK_BYTES);
            assert_eq!(stacks.get(&frames(number)), Some(StackId(u64::from(number))));
        }
        assert_eq!(stacks.get(&frames(0)), None);
    }
}
