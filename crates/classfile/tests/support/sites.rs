//! The insertions that tests and benchmarks make: what the agent makes, at every site there is.

// Each of those who share it uses its own part.
#![allow(dead_code)]

use classfile::opcode::{ANEWARRAY, ASTORE, ISTORE, MULTIANEWARRAY, NEW, NEWARRAY, RETURN};
use classfile::{Code, Insert, Instruction, Instrument, MethodView, Op, OpcodeSet, StaticMethod};

/// Called with each new array.
pub(crate) const ARRAY: StaticMethod =
    StaticMethod { class: "java/lang/MartiniProbe", name: "array", descriptor: "(Ljava/lang/Object;)V" };

/// Called with the number of the site behind each `new`.
pub(crate) const FRESH: StaticMethod =
    StaticMethod { class: "java/lang/MartiniProbe", name: "fresh", descriptor: "(I)V" };

/// Called with the object where a constructor returns.
pub(crate) const OBJECT: StaticMethod =
    StaticMethod { class: "java/lang/MartiniProbe", name: "object", descriptor: "(Ljava/lang/Object;)V" };

/// Allocation sites and the ends of constructors.
#[derive(Debug)]
pub(crate) struct Sites {
    constructors: Constructors,
    news: bool,
    /// Whether the method at hand is a constructor to be seen.
    in_constructor: bool,
    /// The number of the next site of a `new`.
    next: i32,
}

#[derive(Debug, PartialEq, Eq)]
enum Constructors {
    None,
    OfObject,
    All,
}

impl Sites {
    /// Arrays, and objects as their constructors end in that of `java.lang.Object`: `heap=events`.
    pub(crate) fn events() -> Self {
        Sites { constructors: Constructors::OfObject, news: false, in_constructor: false, next: 0 }
    }

    /// Arrays and every `new`, numbered: `heap=counts`.
    pub(crate) fn counts() -> Self {
        Sites { constructors: Constructors::None, news: true, ..Sites::events() }
    }

    /// Arrays, every `new`, and the ends of all constructors: as many as there can be, for tests.
    pub(crate) fn all() -> Self {
        Sites { constructors: Constructors::All, ..Sites::counts() }
    }
}

/// Whether local variable 0 is `this` wherever a constructor returns. Shrinkers use it for other things once `this` is no longer
/// needed.
fn keeps_this(code: &Code<'_, '_>) -> bool {
    const WIDE: u8 = 196;
    let stores_in_0 = |bytes: &[u8]| match *bytes {
        [ISTORE..=ASTORE, index] => index == 0,
        [WIDE, ISTORE..=ASTORE, high, low] => (high, low) == (0, 0),
        // `istore_0` to `astore_0`, four opcodes from one type to the next.
        [opcode @ 59..=75] => (opcode - 59) % 4 == 0,
        _ => false,
    };
    !code.instructions().any(|instruction| stores_in_0(instruction.bytes()))
}

impl Instrument for Sites {
    fn method(&mut self, method: &MethodView<'_>) -> bool {
        self.in_constructor = match self.constructors {
            Constructors::None => false,
            Constructors::OfObject => method.class_name() == b"java/lang/Object" && method.name() == b"<init>",
            Constructors::All => method.name() == b"<init>" && keeps_this(method.code()),
        };
        true
    }

    fn opcodes(&self) -> OpcodeSet {
        const ARRAYS: OpcodeSet = OpcodeSet::of(&[NEWARRAY, ANEWARRAY, MULTIANEWARRAY]);
        const ARRAYS_AND_END: OpcodeSet = OpcodeSet::of(&[NEWARRAY, ANEWARRAY, MULTIANEWARRAY, RETURN]);
        const NEWS: OpcodeSet = OpcodeSet::of(&[NEW, NEWARRAY, ANEWARRAY, MULTIANEWARRAY]);
        const NEWS_AND_END: OpcodeSet = OpcodeSet::of(&[NEW, NEWARRAY, ANEWARRAY, MULTIANEWARRAY, RETURN]);
        match (self.news, self.in_constructor) {
            (false, false) => ARRAYS,
            (false, true) => ARRAYS_AND_END,
            (true, false) => NEWS,
            (true, true) => NEWS_AND_END,
        }
    }

    fn instruction(&mut self, _: &MethodView<'_>, instruction: &Instruction<'_>, insert: &mut Insert<'_>) {
        match instruction.opcode() {
            NEW => {
                insert.after(&[Op::PushInt(self.next), Op::InvokeStatic(&FRESH)]);
                self.next += 1;
            }
            RETURN => insert.before(&[Op::Aload0, Op::InvokeStatic(&OBJECT)]),
            _ => insert.after(&[Op::Dup, Op::InvokeStatic(&ARRAY)]),
        }
    }
}
