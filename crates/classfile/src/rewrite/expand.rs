//! StackMapTable for a method with relays: every frame written in full.
//!
//! The short frame kinds say what differs from the frame before, and relays put new frames between; so
//! all are decoded first. Only methods above 32 KiB come here.

use crate::class::{Member, access};
use crate::error::Refusal;
use crate::rewrite::Insertions;
use crate::rewrite::constants::{split_descriptor, split_type};
use crate::rewrite::frames::{
    Broken, CHOP_LAST, FULL, Frames, OBJECT, SAME_LOCALS_1, SAME_LOCALS_1_EXTENDED, Type, distance,
    write_handler_types, write_types,
};
use crate::rewrite::pc_map::PcMap;

/// Types in all frames together. A real method has some ten thousands; a made one could have billions.
const MOST_TYPES: usize = 1 << 20;

const INTEGER: u8 = 1;
const FLOAT: u8 = 2;
const DOUBLE: u8 = 3;
const LONG: u8 = 4;
const UNINITIALIZED_THIS: u8 = 6;

/// A frame that stands for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Frame {
    pc: usize,
    locals: Vec<Type>,
    stack: Vec<Type>,
}

impl Frame {
    fn size(&self) -> usize {
        self.locals.len() + self.stack.len()
    }
}

/// Appends the content of a StackMapTable, moved and with the frames that relays need.
pub(super) fn write(
    member: &Member<'_, '_>,
    table: &[u8],
    insertions: &mut Insertions,
    pcs: &PcMap,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let at_start = Frame { pc: 0, locals: initial_locals(member, insertions)?, stack: Vec::new() };
    let frames = decode(table, &at_start)?;
    let placed = place(&frames, &at_start, pcs)?;
    let types: usize = placed.iter().map(|(_, frame)| frame.size()).sum();
    if types > MOST_TYPES {
        return Err(Refusal::FramesTooLarge);
    }

    // Frames stand at distinct pcs of the new code.
    let handler = pcs.handler();
    let count = placed.len() + usize::from(handler.is_some());
    out.extend_from_slice(&u16::try_from(count).map_err(|_| Broken)?.to_be_bytes());
    let mut previous = None;
    for (new, frame) in placed {
        out.push(FULL);
        out.extend_from_slice(&distance(previous, new)?.to_be_bytes());
        previous = Some(new);
        for types in [&frame.locals, &frame.stack] {
            out.extend_from_slice(&(types.len() as u16).to_be_bytes());
            write_types(types.iter().copied(), insertions, pcs, out)?;
        }
    }
    if let Some((_, place)) = handler {
        out.push(FULL);
        out.extend_from_slice(&distance(previous, place)?.to_be_bytes());
        write_handler_types(insertions, out);
    }
    Ok(())
}

/// The frames by rising new pc: those of relays at the head, one where the method then begins, those of the
/// table, those of relays at the tail.
fn place<'f>(frames: &'f [Frame], at_start: &'f Frame, pcs: &PcMap) -> Result<Vec<(u32, &'f Frame)>, Broken> {
    let of_target = |target: u16| {
        let index = frames.binary_search_by_key(&usize::from(target), |frame| frame.pc);
        index.map(|index| &frames[index]).map_err(|_| Broken)
    };
    let mut placed = Vec::new();
    if pcs.guard_length > 0 && !pcs.head.is_empty() {
        placed.push((pcs.guard_length, at_start));
    }
    for (number, &target) in (0..).zip(&pcs.head) {
        placed.push((pcs.head_relay(number), of_target(target)?));
    }
    if pcs.head_length() > 0 && frames.first().is_none_or(|frame| frame.pc != 0) {
        placed.push((pcs.head_length(), at_start));
    }
    for frame in frames {
        placed.push((pcs.entry(frame.pc).ok_or(Broken)?, frame));
    }
    for (number, &target) in (0..).zip(&pcs.tail) {
        placed.push((pcs.tail_relay(number), of_target(target)?));
    }
    Ok(placed)
}

/// The locals with which the method begins (JVMS 4.10.1.6).
fn initial_locals(member: &Member<'_, '_>, insertions: &mut Insertions) -> Result<Vec<Type>, Refusal> {
    let class_name = member.class().name();
    let constants = insertions.constants_mut();
    let plain = |tag| Type { tag, data: 0 };
    let mut locals = Vec::new();
    if member.access_flags() & access::STATIC == 0 {
        if member.name() == b"<init>" && class_name != b"java/lang/Object" {
            locals.push(plain(UNINITIALIZED_THIS));
        } else {
            let data = constants.class_of(class_name)?;
            locals.push(Type { tag: OBJECT, data });
        }
    }
    let (mut parameters, _) = split_descriptor(member.descriptor()).ok_or(Broken)?;
    while !parameters.is_empty() {
        let (first, rest) = split_type(parameters).ok_or(Broken)?;
        parameters = rest;
        locals.push(match first {
            b"J" => plain(LONG),
            b"D" => plain(DOUBLE),
            b"F" => plain(FLOAT),
            [b'L', name @ .., b';'] => Type { tag: OBJECT, data: constants.class_of(name)? },
            [b'[', ..] => Type { tag: OBJECT, data: constants.class_of(first)? },
            _ => plain(INTEGER),
        });
    }
    Ok(locals)
}

fn decode(table: &[u8], at_start: &Frame) -> Result<Vec<Frame>, Refusal> {
    let mut raw = Frames::new(table)?;
    let mut frames: Vec<Frame> = Vec::new();
    let mut types = 0;
    while let Some(frame) = raw.try_next()? {
        let before = &frames.last().unwrap_or(at_start).locals;
        let mut locals = match frame.kind {
            FULL => Vec::new(),
            kind @ 248..=CHOP_LAST => {
                let chopped = usize::from(CHOP_LAST + 1 - kind);
                let kept = before.len().checked_sub(chopped).ok_or(Broken)?;
                before[..kept].to_vec()
            }
            _ => before.clone(),
        };
        locals.extend(frame.locals.iter());
        let stack = match frame.kind {
            FULL | SAME_LOCALS_1..128 | SAME_LOCALS_1_EXTENDED => frame.stack.iter().collect(),
            _ => Vec::new(),
        };
        let frame = Frame { pc: frame.pc, locals, stack };
        types += frame.size();
        if types > MOST_TYPES {
            return Err(Refusal::FramesTooLarge);
        }
        frames.push(frame);
    }
    Ok(frames)
}
