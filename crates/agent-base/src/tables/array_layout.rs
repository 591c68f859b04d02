//! How the size of an array follows from its length, measured once on the running VM.
//!
//! Header size, alignment and reference width depend on the VM's version and flags, so none is assumed: each kind of array
//! is measured at a few lengths, and if the rule does not hold, the VM is asked for the size of every array.

use std::ptr::null_mut;

use jvmti::{Env, Jni};
use trace::model::ArrayCode;

/// Size rule of one kind of array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayLayout {
    header_bytes: u32,
    element_bytes: u32,
    alignment: u32,
}

impl ArrayLayout {
    /// Bytes of an array of that length.
    pub fn bytes(self, length: u32) -> u64 {
        let bytes = u64::from(self.header_bytes) + u64::from(length) * u64::from(self.element_bytes);
        bytes.next_multiple_of(u64::from(self.alignment))
    }

    /// Header bytes, the binary logarithm of the element's bytes, and the alignment, from the lowest byte on. `None` if they
    /// do not fit.
    pub fn packed(self) -> Option<i32> {
        let [header, alignment] = [self.header_bytes, self.alignment].map(|bytes| u8::try_from(bytes).ok());
        let shift = self.element_bytes.is_power_of_two().then(|| self.element_bytes.trailing_zeros())?;
        Some(i32::from(header?) | (shift as i32) << 8 | i32::from(alignment?) << 16)
    }

    /// Finds the rule from `size_of`, which makes an array of a given length and returns its size. `None` if there is no
    /// such rule or the arrays cannot be made.
    pub(crate) fn measure(mut size_of: impl FnMut(usize) -> Option<u64>) -> Option<ArrayLayout> {
        const LENGTHS: usize = 72;
        let sizes: Vec<u64> = (0..=LENGTHS).map(&mut size_of).collect::<Option<_>>()?;
        let jump = (1..=LENGTHS).find(|&n| sizes[n] > sizes[0])?;
        let next = (jump + 1..=LENGTHS).find(|&n| sizes[n] > sizes[jump]);
        // Elements as wide as the alignment make every length jump.
        let alignment = sizes.windows(2).filter_map(|w| w[1].checked_sub(w[0])).filter(|&d| d > 0).min()?;
        let per_jump = next.map_or(1, |n| n - jump) as u64;
        let element_bytes = alignment / per_jump;
        let header_bytes = sizes[0].checked_sub((jump as u64 - 1) * element_bytes)?;
        let layout = ArrayLayout {
            header_bytes: header_bytes.try_into().ok()?,
            element_bytes: element_bytes.try_into().ok()?,
            alignment: alignment.try_into().ok()?,
        };
        sizes.iter().enumerate().all(|(n, &size)| layout.bytes(n as u32) == size).then_some(layout)
    }
}

/// The rules of all kinds of array.
#[derive(Clone, Debug, Default)]
pub struct ArrayLayouts([Option<ArrayLayout>; 12]);

impl ArrayLayouts {
    /// The rules of this VM, found by making arrays of all kinds; initialises `Object`.
    pub(crate) fn of_this_vm(env: Env, jni: Jni) -> ArrayLayouts {
        const DESCRIPTORS: [(ArrayCode, u8); 8] = [
            (ArrayCode::BOOLEAN, b'Z'),
            (ArrayCode::CHAR, b'C'),
            (ArrayCode::FLOAT, b'F'),
            (ArrayCode::DOUBLE, b'D'),
            (ArrayCode::BYTE, b'B'),
            (ArrayCode::SHORT, b'S'),
            (ArrayCode::INT, b'I'),
            (ArrayCode::LONG, b'J'),
        ];
        let object = jni.find_class(c"java/lang/Object").inspect_err(|_| jni.exception_clear()).ok();
        let layouts = ArrayLayouts::measure(|code, length| {
            let array = match DESCRIPTORS.iter().find(|(c, _)| *c == code) {
                Some((_, descriptor)) => jni.new_primitive_array(*descriptor, length),
                // SAFETY: a live local reference to a class.
                None => unsafe { jni.new_object_array(length, object?, null_mut()) },
            };
            let array = array.inspect_err(|_| jni.exception_clear()).ok()?;
            // SAFETY: a live local reference, deleted at once.
            unsafe {
                let size = env.get_object_size(array);
                jni.delete_local_ref(array);
                size.ok().map(|bytes| bytes as u64)
            }
        });
        if let Some(object) = object {
            // SAFETY: a local reference that is not used any more.
            unsafe { jni.delete_local_ref(object) };
        }
        layouts
    }

    /// Measures each kind with `size_of`.
    pub(crate) fn measure(mut size_of: impl FnMut(ArrayCode, usize) -> Option<u64>) -> ArrayLayouts {
        ArrayLayouts(std::array::from_fn(|code| {
            let code = ArrayCode(code as u8);
            if code.is_array() && code.is_known() { ArrayLayout::measure(|n| size_of(code, n)) } else { None }
        }))
    }

    /// The rule of one kind.
    pub fn get(&self, array: ArrayCode) -> Option<ArrayLayout> {
        self.0.get(usize::from(array.0)).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plausible_layout_is_found_from_sizes() {
        for header in [8, 12, 16, 20, 24] {
            for element in [1, 2, 4, 8] {
                for alignment in [8, 16, 32] {
                    let rule = |n: u64| (header + n * element).next_multiple_of(alignment);
                    let layout = ArrayLayout::measure(|n| Some(rule(n as u64))).expect("a rule");
                    for n in [0, 1, 7, 100, 1_000_003] {
                        assert_eq!(layout.bytes(n), rule(u64::from(n)), "{header} {element} {alignment} {n}");
                    }
                }
            }
        }
    }

    #[test]
    fn sizes_that_follow_no_rule_give_none() {
        assert_eq!(ArrayLayout::measure(|n| Some(if n == 9 { 16 } else { 16 + 8 * n as u64 })), None);
        assert_eq!(ArrayLayout::measure(|_| None), None);
        assert_eq!(ArrayLayout::measure(|_| Some(24)), None);
    }
}
