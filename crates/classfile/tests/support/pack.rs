//! Packs of classes: length (4 bytes, big-endian), bytes, and so on, as `PackClasses.java` writes them.

/// The classes in a pack.
pub(crate) fn classes(pack: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = pack;
    std::iter::from_fn(move || {
        let (length, tail) = rest.split_first_chunk::<4>()?;
        let (class, tail) = tail.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        rest = tail;
        Some(class)
    })
}
