//! What packets refer to by number: names, and stacks with their frames.

use crate::protobuf::Message;
use crate::recorder::constants::Constants;
use crate::recorder::pools::{Frame, Method, Pool, Ran};
use crate::recorder::waits::WaitKind;

/// What slices are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Wait(WaitKind),
    Collection,
}

/// What annotations are called; the numbers are those that packets have.
#[derive(Clone, Copy, Debug)]
pub(super) enum Annotation {
    Class = 1,
    Lock = 2,
    Owner = 3,
}

/// Where code comes from that belongs to no library.
const JAVA: &str = "Java";

/// All that was referred to so far.
pub(super) struct Interned<'a> {
    constants: &'a Constants<'a>,
    message: Message,
    functions: Pool<String>,
    files: Pool<&'a str>,
    mappings: Pool<&'a str>,
    frames: Pool<Frame>,
    stacks: Pool<u64>,
}

/// The fields that define constants.
const EVENT_NAME: u32 = 2;
const ANNOTATION_NAME: u32 = 3;
const FUNCTION_NAME: u32 = 5;
const FRAME: u32 = 6;
const STACK: u32 = 7;
const MAPPING_PATH: u32 = 17;
const SOURCE_PATH: u32 = 18;
const MAPPING: u32 = 19;

impl<'a> Interned<'a> {
    pub(super) fn new(constants: &'a Constants<'a>) -> Self {
        let mut interned = Interned {
            constants,
            message: Message::default(),
            functions: Pool::default(),
            files: Pool::default(),
            mappings: Pool::default(),
            frames: Pool::default(),
            stacks: Pool::default(),
        };
        for kind in [WaitKind::Blocked, WaitKind::Waiting, WaitKind::Parked, WaitKind::Sleeping] {
            let number = interned.name(Name::Wait(kind));
            interned.text(EVENT_NAME, number, kind.name());
        }
        let number = interned.name(Name::Collection);
        interned.text(EVENT_NAME, number, "Collection");
        for (name, text) in [(Annotation::Class, "class"), (Annotation::Lock, "lock"), (Annotation::Owner, "owner")] {
            interned.text(ANNOTATION_NAME, name as u64, text);
        }
        interned
    }

    /// The number of a slice's name.
    pub(super) fn name(&self, name: Name) -> u64 {
        match name {
            Name::Collection => 1,
            Name::Wait(kind) => 2 + kind as u64,
        }
    }

    /// The number of a stack; 0 if it has no frame.
    pub(super) fn stack(&mut self, stack: u64) -> u64 {
        let frames = self.constants.frames(stack);
        if frames.is_empty() {
            return 0;
        }
        let (number, is_new) = self.stacks.note(stack);
        if is_new {
            let mut message = Message::default();
            message.int(1, number);
            // The outermost comes first.
            frames.iter().rev().for_each(|&frame| message.int(2, self.frame(frame)));
            self.message.message(STACK, &message);
        }
        number
    }

    pub(super) fn into_message(self) -> Message {
        self.message
    }

    fn frame(&mut self, frame: Frame) -> u64 {
        let (number, is_new) = self.frames.note(frame);
        if !is_new {
            return number;
        }
        let mut message = Message::default();
        message.int(1, number);
        if let Some((method, name)) = self.constants.method(frame.method) {
            message.int(2, self.function(name));
            message.int(3, self.mapping(if method.is_java || method.file.is_empty() { JAVA } else { &method.file }));
            if method.is_java && !method.file.is_empty() {
                message.int(5, self.file(&method.file));
                message.int(6, frame.line.into());
            }
            message.int(7, kind(method, frame.ran));
        }
        self.message.message(FRAME, &message);
        number
    }

    fn function(&mut self, name: String) -> u64 {
        let (number, is_new) = self.functions.note(name.clone());
        if is_new {
            self.text(FUNCTION_NAME, number, &name);
        }
        number
    }

    fn file(&mut self, path: &'a str) -> u64 {
        let (number, is_new) = self.files.note(path);
        if is_new {
            self.text(SOURCE_PATH, number, path);
        }
        number
    }

    fn mapping(&mut self, path: &'a str) -> u64 {
        let (number, is_new) = self.mappings.note(path);
        if is_new {
            self.text(MAPPING_PATH, number, path);
            let mut message = Message::default();
            message.int(1, number);
            message.int(7, number);
            self.message.message(MAPPING, &message);
        }
        number
    }

    /// Names of events and texts of stacks are the second field of a message whose first is the number.
    fn text(&mut self, field: u32, number: u64, text: &str) {
        let mut message = Message::default();
        message.int(1, number);
        message.text(2, text);
        self.message.message(field, &message);
    }
}

/// How a frame ran, by the numbers of the format; 0 is unknown.
fn kind(method: &Method, ran: Ran) -> u64 {
    match ran {
        Ran::Interpreted => 3,
        Ran::Compiled | Ran::Inlined => 4,
        Ran::Native => 1,
        Ran::Unknown => u64::from(!method.is_java),
    }
}
