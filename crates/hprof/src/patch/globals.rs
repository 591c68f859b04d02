//! Takes some of the global references out of a dump: those that somebody made only to have the dump say where their objects
//! lie.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use super::window::{Window, read};
use super::{classes, id_of, number, root_length, segments};
use crate::format::sub_record;
use crate::read::ReadError;
use crate::{BasicType, ObjectId};

/// Bytes in front of the body of a record.
const RECORD_HEAD: u64 = 9;
/// Bytes that are moved at once.
const PIECE: usize = 1 << 20;

/// Takes out each root that is a global reference and for which `is_own` says so: it gets the reference, as the dump names it,
/// and the object. What stands behind a root moves up, so the dump gets shorter.
///
/// # Errors
/// The dump is damaged, or cannot be read or written. It is of no use then.
pub fn take_globals(file: &File, mut is_own: impl FnMut(u64, ObjectId) -> bool) -> Result<(), ReadError> {
    let mut cuts = Cuts::default();
    for segment in segments(file)? {
        cut_segment(file, &segment, &mut cuts, &mut is_own)?;
    }
    cuts.close(file)
}

/// Parts of the file that are to go, in their order.
#[derive(Default)]
struct Cuts(Vec<Range<u64>>);

impl Cuts {
    fn add(&mut self, cut: Range<u64>) {
        match self.0.last_mut() {
            Some(last) if last.end == cut.start => last.end = cut.end,
            _ => self.0.push(cut),
        }
    }

    /// Moves what lies between them, and behind the last one.
    fn close(&self, file: &File) -> Result<(), ReadError> {
        let Some(first) = self.0.first() else { return Ok(()) };
        let length = file.metadata().map_err(|source| ReadError::Io { at: 0, source })?.len();
        let mut to = first.start;
        let mut bytes = vec![0; PIECE];
        let ends = self.0.iter().skip(1).map(|next| next.start).chain([length]);
        for (mut from, end) in self.0.iter().map(|cut| cut.end).zip(ends) {
            while from < end {
                let piece = &mut bytes[..PIECE.min((end - from) as usize)];
                read(file, piece, from, "the heap")?;
                file.write_all_at(piece, to).map_err(|source| ReadError::Write { at: to, source })?;
                from += piece.len() as u64;
                to += piece.len() as u64;
            }
        }
        file.set_len(to).map_err(|source| ReadError::Write { at: to, source })
    }
}

/// Finds what is to be cut out of a segment, whose record then says how long it will be. One that gets empty goes as a whole.
fn cut_segment(
    file: &File,
    segment: &Range<u64>,
    cuts: &mut Cuts,
    is_own: &mut impl FnMut(u64, ObjectId) -> bool,
) -> Result<(), ReadError> {
    let mut window = Window::new(file);
    window.enter(segment)?;
    let (mut at, mut gone, mut found) = (segment.start, 0, Vec::new());
    while at < segment.end {
        let tag = window.look(at, 1, "the heap")?[0];
        let end = sub_record_end(&mut window, at, tag)?;
        if tag == sub_record::ROOT_JNI_GLOBAL {
            let root = window.look(at, (end - at) as usize, "a root")?;
            if is_own(id_of(&root[9..]), ObjectId(id_of(&root[1..]))) {
                found.push(at..end);
                gone += end - at;
            }
        }
        at = end;
    }
    let whole = segment.end - segment.start;
    if gone == whole {
        cuts.add(segment.start - RECORD_HEAD..segment.end);
    } else if gone > 0 {
        let length = ((whole - gone) as u32).to_be_bytes();
        let place = segment.start - length.len() as u64;
        file.write_all_at(&length, place).map_err(|source| ReadError::Write { at: place, source })?;
        found.into_iter().for_each(|cut| cuts.add(cut));
    }
    Ok(())
}

/// Where the sub-record ends that begins there.
fn sub_record_end(window: &mut Window, at: u64, tag: u8) -> Result<u64, ReadError> {
    Ok(match tag {
        sub_record::INSTANCE_DUMP => at + 25 + u64::from(number(&window.look(at, 25, "an object")?[21..])),
        sub_record::OBJECT_ARRAY_DUMP => at + 25 + 8 * u64::from(number(&window.look(at, 25, "an array")?[13..])),
        sub_record::PRIMITIVE_ARRAY_DUMP => {
            let head = window.look(at, 18, "an array")?;
            let (length, code) = (u64::from(number(&head[13..])), head[17]);
            let kind = BasicType::of_code(code).ok_or(ReadError::Type { at: at + 17, code })?;
            at + 18 + length * kind.size(8) as u64
        }
        sub_record::CLASS_DUMP => classes::walk(window, at, |_, _| {}, |_| {})?,
        tag => at + root_length(tag).ok_or(ReadError::Tag { at, tag, level: "sub-record" })? as u64,
    })
}
