//! Constants appended to the pool of the class at hand.

use crate::error::Refusal;
use crate::pool;
use crate::rewrite::operation::StaticMethod;

/// A method that the class can call, and what the call does to the stack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Callee {
    method: StaticMethod,
    pub(crate) index: u16,
    /// Slots taken and left.
    pub(crate) arguments: u32,
    pub(crate) result: u32,
}

/// The new end of a constant pool.
#[derive(Debug)]
pub(crate) struct NewConstants {
    bytes: Vec<u8>,
    /// The index that the next constant gets.
    next: u32,
    texts: Vec<(&'static str, u16)>,
    classes: Vec<(&'static str, u16)>,
    callees: Vec<Callee>,
    /// The last int only: callers push numbers that rise with every site.
    last_int: Option<(i32, u16)>,
}

/// A state to go back to when a method is refused.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    bytes: usize,
    next: u32,
    texts: usize,
    classes: usize,
    callees: usize,
    last_int: Option<(i32, u16)>,
}

impl NewConstants {
    /// Appends behind a pool of `count` (one more than its highest index), in which these texts are.
    pub(crate) fn new(count: u16, texts: Vec<(&'static str, u16)>) -> Self {
        NewConstants {
            bytes: Vec::new(),
            next: u32::from(count),
            texts,
            classes: Vec::new(),
            callees: Vec::new(),
            last_int: None,
        }
    }

    /// The new `constant_pool_count`.
    pub(crate) fn count(&self) -> u16 {
        // `append` never lets it pass 65,535.
        self.next as u16
    }

    /// The appended entries.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[inline]
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            bytes: self.bytes.len(),
            next: self.next,
            texts: self.texts.len(),
            classes: self.classes.len(),
            callees: self.callees.len(),
            last_int: self.last_int,
        }
    }

    pub(crate) fn roll_back(&mut self, to: &Checkpoint) {
        self.bytes.truncate(to.bytes);
        self.next = to.next;
        self.texts.truncate(to.texts);
        self.classes.truncate(to.classes);
        self.callees.truncate(to.callees);
        self.last_int = to.last_int;
    }

    /// Appends one entry given its parts; `constant_pool_count` is a `u16`, so 65,534 is the last index.
    fn append(&mut self, tag: u8, parts: &[&[u8]]) -> Result<u16, Refusal> {
        let index = u16::try_from(self.next).ok().filter(|&index| index < u16::MAX).ok_or(Refusal::ConstantPoolFull)?;
        self.bytes.push(tag);
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        self.next += 1;
        Ok(index)
    }

    fn utf8(&mut self, text: &[u8]) -> Result<u16, Refusal> {
        // A name this long cannot be written at all; that is the caller's insertion at fault.
        let length = u16::try_from(text.len()).map_err(|_| Refusal::InvalidInsertion)?;
        self.append(pool::UTF8, &[&length.to_be_bytes(), text])
    }

    fn text(&mut self, text: &'static str) -> Result<u16, Refusal> {
        if let Some(&(_, index)) = self.texts.iter().find(|(known, _)| *known == text) {
            return Ok(index);
        }
        let index = self.utf8(text.as_bytes())?;
        self.texts.push((text, index));
        Ok(index)
    }

    fn class(&mut self, name: &'static str) -> Result<u16, Refusal> {
        if let Some(&(_, index)) = self.classes.iter().find(|(known, _)| *known == name) {
            return Ok(index);
        }
        let utf8 = self.text(name)?;
        let index = self.append(pool::CLASS, &[&utf8.to_be_bytes()])?;
        self.classes.push((name, index));
        Ok(index)
    }

    /// A Class constant of a name that comes from the class itself. Not shared: only relays need it.
    pub(crate) fn class_of(&mut self, name: &[u8]) -> Result<u16, Refusal> {
        let utf8 = self.utf8(name)?;
        self.append(pool::CLASS, &[&utf8.to_be_bytes()])
    }

    /// The name of the attribute with a method's frames.
    pub(crate) fn frames_name(&mut self) -> Result<u16, Refusal> {
        self.text("StackMapTable")
    }

    /// An Integer constant.
    pub(crate) fn int(&mut self, value: i32) -> Result<u16, Refusal> {
        match self.last_int {
            Some((known, index)) if known == value => Ok(index),
            _ => {
                let index = self.append(pool::INTEGER, &[&value.to_be_bytes()])?;
                self.last_int = Some((value, index));
                Ok(index)
            }
        }
    }

    /// A Methodref constant with all it needs.
    pub(crate) fn callee(&mut self, method: &StaticMethod) -> Result<Callee, Refusal> {
        if let Some(callee) = self.callees.iter().find(|known| same(&known.method, method)) {
            return Ok(*callee);
        }
        let (arguments, result) = slots(method.descriptor.as_bytes()).ok_or(Refusal::InvalidInsertion)?;
        let class = self.class(method.class)?;
        let name = self.text(method.name)?;
        let descriptor = self.text(method.descriptor)?;
        let name_and_type = self.append(pool::NAME_AND_TYPE, &[&name.to_be_bytes(), &descriptor.to_be_bytes()])?;
        let index = self.append(pool::METHOD, &[&class.to_be_bytes(), &name_and_type.to_be_bytes()])?;
        let callee = Callee { method: *method, index, arguments, result };
        self.callees.push(callee);
        Ok(callee)
    }
}

/// Equality; the usual case, the very same constant, is recognised without comparing the texts.
fn same(one: &StaticMethod, other: &StaticMethod) -> bool {
    let same = |a: &'static str, b: &'static str| std::ptr::eq(a, b) || a == b;
    same(one.name, other.name) && same(one.class, other.class) && same(one.descriptor, other.descriptor)
}

/// Splits the first field type off `types`: its bytes and the rest.
pub(crate) fn split_type(types: &[u8]) -> Option<(&[u8], &[u8])> {
    let dimensions = types.iter().take_while(|&&b| b == b'[').count();
    let length = match types.get(dimensions)? {
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => 1,
        b'L' => 1 + types[dimensions..].iter().position(|&b| b == b';')?,
        _ => return None,
    };
    Some(types.split_at(dimensions + length))
}

/// The field types of a method descriptor's parameters, back to back, and its return type.
pub(crate) fn split_descriptor(descriptor: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = descriptor.strip_prefix(b"(")?;
    let close = inner.iter().position(|&b| b == b')')?;
    Some((&inner[..close], &inner[close + 1..]))
}

fn slots_of(field_type: &[u8]) -> u32 {
    match field_type {
        b"J" | b"D" => 2,
        _ => 1,
    }
}

/// Stack slots of the arguments and of the result of a method descriptor.
fn slots(descriptor: &[u8]) -> Option<(u32, u32)> {
    let (mut parameters, result) = split_descriptor(descriptor)?;
    let mut arguments = 0;
    while !parameters.is_empty() {
        let (first, rest) = split_type(parameters)?;
        arguments += slots_of(first);
        parameters = rest;
    }
    let result = match result {
        b"V" => 0,
        other => match split_type(other)? {
            (only, []) => slots_of(only),
            _ => return None,
        },
    };
    Some((arguments, result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_count_long_and_double_twice() {
        assert_eq!(slots(b"()V"), Some((0, 0)));
        assert_eq!(slots(b"(IJ[J[[Ljava/lang/String;D)J"), Some((7, 2)));
        for bad in ["", "()", "(I", "(Ljava)V", "(V)V", "()II", "([)V"] {
            assert_eq!(slots(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn rolled_back_constants_are_made_again() {
        const HOOK: StaticMethod = StaticMethod { class: "A", name: "b", descriptor: "()V" };
        let mut constants = NewConstants::new(5, vec![("()V", 3)]);
        let checkpoint = constants.checkpoint();
        let first = constants.callee(&HOOK).unwrap().index;
        assert_eq!(constants.callee(&HOOK).unwrap().index, first);
        let bytes = constants.bytes().to_vec();
        constants.roll_back(&checkpoint);
        assert!(constants.bytes().is_empty());
        assert_eq!(constants.callee(&HOOK).unwrap().index, first);
        assert_eq!(constants.bytes(), bytes);
        // Of its three texts one is there, so five constants are new.
        assert_eq!((first, constants.count()), (9, 10));
        assert!(!bytes.windows(3).any(|text| text == b"()V"));
    }

    #[test]
    fn the_last_index_is_65534() {
        let mut constants = NewConstants::new(65_534, Vec::new());
        assert_eq!(constants.int(1_000_000), Ok(65_534));
        assert_eq!(constants.int(1_000_001), Err(Refusal::ConstantPoolFull));
        assert_eq!(constants.count(), 65_535);
    }
}
