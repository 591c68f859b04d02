//! What a JVM publishes in `/tmp/hsperfdata_USER/PID`, read as something that anybody may have written.

use std::os::unix::fs::MetadataExt;

use crate::files::bytes_of;
use crate::ids::Owner;
use crate::root::Folder;

/// JVMs write 32 KiB.
const MOST: u64 = 1 << 20;
/// Texts beyond this are cut.
const LONGEST_TEXT: usize = 4096;
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];

/// The texts of a JVM's performance data, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct PerfData(Vec<(String, String)>);

impl PerfData {
    /// Finds and reads that of a process with this id in its name space.
    pub(crate) fn find(tmp: &Folder, inner_pid: u32, owner: Owner) -> Option<PerfData> {
        let folders = tmp.names().into_iter().filter(|name| name.starts_with("hsperfdata_"));
        folders.filter_map(|name| tmp.folder(&name).ok()?.file(&inner_pid.to_string()).ok()).find_map(|file| {
            let is_own = file.metadata().is_ok_and(|found| found.uid() == owner.uid);
            read(&bytes_of(file, MOST).ok().filter(|_| is_own)?)
        })
    }

    /// A text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, text)| text.as_str())
    }
}

/// Reads the data: a head, and entries one behind the other.
fn read(bytes: &[u8]) -> Option<PerfData> {
    let is_little = *bytes.get(4)? == 1;
    if !bytes.starts_with(&MAGIC) || *bytes.get(5)? != 2 {
        return None;
    }
    let number = |at: usize| {
        let four: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        usize::try_from(if is_little { i32::from_le_bytes(four) } else { i32::from_be_bytes(four) }).ok()
    };
    let (mut at, entries) = (number(24)?, number(28)?);
    let mut texts = Vec::new();
    for _ in 0..entries {
        // Entries are aligned and no shorter than their head; others would keep us here.
        let Some(length) = number(at).filter(|&length| length >= 20) else { break };
        let Some(entry) = at.checked_add(length).and_then(|end| bytes.get(at..end)) else { break };
        let field = |offset: usize| number(at + offset);
        let (name_at, vector, value_at) = (field(4)?, field(8)?, field(16)?);
        // A vector of bytes is a text.
        if entry[12] == b'B' && vector > 0 {
            let value = value_at.checked_add(vector.min(LONGEST_TEXT)).map(|end| end.min(length));
            let value = value.and_then(|end| entry.get(value_at..end)).unwrap_or_default();
            let name = entry.get(name_at..).unwrap_or_default();
            texts.push((to_zero(name), to_zero(value)));
        }
        at += length;
    }
    Some(PerfData(texts))
}

fn to_zero(bytes: &[u8]) -> String {
    let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(&text[..text.len().min(LONGEST_TEXT)]).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Data with these texts.
    fn made(texts: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = vec![0; 32];
        bytes[..8].copy_from_slice(&[0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1]);
        bytes[24..28].copy_from_slice(&32i32.to_le_bytes());
        bytes[28..32].copy_from_slice(&(texts.len() as i32).to_le_bytes());
        for (name, text) in texts {
            let value_at = 20 + name.len() + 1;
            let length = (value_at + text.len() + 1).next_multiple_of(8);
            let mut entry = vec![0; length];
            for (at, number) in [(0, length), (4, 20), (8, text.len() + 1), (16, value_at)] {
                entry[at..at + 4].copy_from_slice(&(number as i32).to_le_bytes());
            }
            entry[12] = b'B';
            entry[20..20 + name.len()].copy_from_slice(name.as_bytes());
            entry[value_at..value_at + text.len()].copy_from_slice(text.as_bytes());
            bytes.extend(entry);
        }
        bytes
    }

    #[test]
    fn texts_are_found_by_their_names() {
        let bytes = made(&[("java.property.java.version", "17.0.9"), ("sun.rt.javaCommand", "demo.Main a b")]);
        let data = read(&bytes).unwrap();
        assert_eq!(data.text("java.property.java.version"), Some("17.0.9"));
        assert_eq!(data.text("sun.rt.javaCommand"), Some("demo.Main a b"));
        assert_eq!(data.text("x"), None);
        assert!(read(b"something else entirely, and long enough").is_none());
    }

    proptest! {
        #[test]
        fn damage_does_no_harm(at in 0usize..150, with in proptest::collection::vec(any::<u8>(), 0..8), cut in 0usize..200) {
            let mut bytes = made(&[("java.property.java.version", "17.0.9"), ("sun.rt.javaCommand", "demo.Main")]);
            for (offset, byte) in with.into_iter().enumerate() {
                if let Some(place) = bytes.get_mut(at + offset) {
                    *place = byte;
                }
            }
            bytes.truncate(cut);
            let _ = read(&bytes);
        }
    }
}
