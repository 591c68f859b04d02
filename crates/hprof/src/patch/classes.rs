//! Where the references of instances lie, and the walk over a class in a dump.

use rustc_hash::FxHashMap;

use super::window::Window;
use crate::read::ReadError;
use crate::{BasicType, ObjectId};

const WHAT: &str = "a class";
/// Ids of a class: itself, superclass, loader, signers, protection domain.
pub(super) const IDS: [usize; 5] = [1, 13, 21, 29, 37];
/// In front of the constants.
const HEAD: usize = 65;

/// Goes over a class; returns where it ends. `value` gets each constant and static, `field` the type of each field.
pub(super) fn walk(
    window: &mut Window,
    at: u64,
    mut value: impl FnMut(BasicType, &mut [u8]),
    mut field: impl FnMut(BasicType),
) -> Result<u64, ReadError> {
    let mut next = at + HEAD as u64;
    // A constant has an index in front of its type, a static the id of its name.
    for name in [2, 8] {
        for _ in 0..count(window, &mut next)? {
            let kind = kind(window, next + name)?;
            next += name + 1;
            let size = kind.size(8);
            value(kind, window.look(next, size, WHAT)?);
            next += size as u64;
        }
    }
    for _ in 0..count(window, &mut next)? {
        field(kind(window, next + 8)?);
        next += 9;
    }
    Ok(next)
}

fn count(window: &mut Window, at: &mut u64) -> Result<u16, ReadError> {
    let bytes = window.look(*at, 2, WHAT)?;
    *at += 2;
    Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
}

fn kind(window: &mut Window, at: u64) -> Result<BasicType, ReadError> {
    let code = window.look(at, 1, WHAT)?[0];
    BasicType::of_code(code).ok_or(ReadError::Type { at, code })
}

/// The references in instances of each class: bytes in front of them.
#[derive(Default)]
pub(super) struct References {
    offsets: FxHashMap<ObjectId, Box<[u32]>>,
}

/// A class as it stands in the dump.
pub(super) struct Class {
    pub(super) superclass: ObjectId,
    pub(super) fields: Vec<BasicType>,
}

impl References {
    /// Of all classes.
    pub(super) fn new(classes: &FxHashMap<ObjectId, Class>) -> References {
        let offsets = classes.keys().filter_map(|&id| Some((id, offsets(classes, id)?))).collect();
        References { offsets }
    }

    pub(super) fn of(&self, class: ObjectId) -> Option<&[u32]> {
        self.offsets.get(&class).map(|offsets| &**offsets)
    }
}

/// `None` if a superclass is missing.
fn offsets(classes: &FxHashMap<ObjectId, Class>, id: ObjectId) -> Option<Box<[u32]>> {
    let (mut found, mut offset, mut next) = (Vec::new(), 0, id);
    // A damaged dump may have a circle of superclasses.
    let mut depth = classes.len();
    while next.0 != 0 && depth > 0 {
        let class = classes.get(&next)?;
        for &kind in &class.fields {
            if kind == BasicType::Object {
                found.push(offset);
            }
            offset += kind.size(8) as u32;
        }
        next = class.superclass;
        depth -= 1;
    }
    Some(found.into())
}
