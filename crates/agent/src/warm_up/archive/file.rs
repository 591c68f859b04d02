//! The beginning of a file with an archive of classes (CDS archive, AOT cache): what HotSpot checks before it uses it.
//!
//! Only the build that made an archive uses it, so where the fields are needs to be known for the running release alone. What is not
//! known of a release is not checked.

use hotspot::flags::ArchiveSettings;
use trace::model::ArchiveRefusal;

/// What archives begin with: one of its own, and one that lies on top of another.
const MAGIC: [u32; 2] = [0xf00b_aba2, 0xf00b_aba8];
/// The name of the build is in so many bytes.
pub(super) const HEADER_BYTES: usize = 4096;
/// So much of a long name is in the file as it is.
const NAME_BYTES: usize = 240;
/// What each name of a build has.
const NAME_HAS: &[u8] = b" VM (";
/// In a region, where in the file it is, and how long.
const FILE_OFFSET_AT: usize = 0x18;
const USED_AT: usize = 0x28;

/// Where fields are that HotSpot compares.
struct Layout {
    regions: usize,
    region_bytes: usize,
    number_of_regions: usize,
    alignment: usize,
    compressed_oops: usize,
    compressed_classes: usize,
    compact_headers: Option<usize>,
}

const JDK_17: Layout = Layout {
    regions: 0x10,
    region_bytes: 0x48,
    number_of_regions: 7,
    alignment: 0x218,
    compressed_oops: 0x240,
    compressed_classes: 0x241,
    compact_headers: None,
};
const JDK_21: Layout = Layout {
    regions: 0x18,
    region_bytes: 0x58,
    number_of_regions: 4,
    alignment: 0x180,
    compressed_oops: 0x1a8,
    compressed_classes: 0x1a9,
    compact_headers: None,
};
const JDK_25: Layout = Layout {
    regions: 0x18,
    region_bytes: 0x60,
    number_of_regions: 5,
    alignment: 0x200,
    compressed_oops: 0x224,
    compressed_classes: 0x225,
    compact_headers: Some(0x215),
};

/// Why a VM of that release refuses an archive whose file begins so and is so long, and what that is about; `None` if nothing is wrong with it.
pub(super) fn refusal(
    header: &[u8],
    file_bytes: u64,
    java: u32,
    vm: &ArchiveSettings,
) -> Option<(ArchiveRefusal, String)> {
    let half = |at: usize| header.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes);
    if !half(0).is_some_and(|magic| MAGIC.contains(&magic)) {
        return Some((ArchiveRefusal::NoArchive, String::new()));
    }
    let name = &vm.build[..vm.build.len().min(NAME_BYTES)];
    if !name.is_empty() && memchr::memmem::find(header, name).is_none() {
        // A file that is so short says nothing of who made it.
        let made_by = name_in(header).map(|made_by| (ArchiveRefusal::OtherJvm, made_by));
        return made_by.or_else(|| Some((ArchiveRefusal::Truncated, String::new())));
    }
    let layout = match java {
        17 => JDK_17,
        21 => JDK_21,
        25 => JDK_25,
        _ => return None,
    };
    let word = |at: usize| header.get(at..at + 8)?.try_into().ok().map(u64::from_ne_bytes);
    let ends = (0..layout.number_of_regions).filter_map(|region| {
        let at = layout.regions + region * layout.region_bytes;
        word(at + FILE_OFFSET_AT)?.checked_add(word(at + USED_AT)?)
    });
    if ends.max().is_some_and(|end| end > file_bytes) {
        return Some((ArchiveRefusal::Truncated, String::new()));
    }
    let switch = |at: usize| header.get(at).map(|&byte| byte != 0);
    let switches = [
        ("UseCompressedOops", Some(layout.compressed_oops), vm.compressed_oops),
        ("UseCompressedClassPointers", Some(layout.compressed_classes), vm.compressed_classes),
        ("UseCompactObjectHeaders", layout.compact_headers, vm.compact_headers),
    ];
    let other = switches.into_iter().find_map(|(flag, at, now)| (switch(at?)? != now?).then(|| flag.to_owned()));
    let alignment = || {
        let (then, now) = (half(layout.alignment)?, vm.alignment?);
        (then != u32::from(now)).then(|| "ObjectAlignmentInBytes".to_owned())
    };
    other.or_else(alignment).map(|flag| (ArchiveRefusal::Flag, flag))
}

/// The name of the build that made it.
fn name_in(header: &[u8]) -> Option<String> {
    let at = memchr::memmem::find(header, NAME_HAS)?;
    let begin = header[..at].iter().rposition(|byte| !(b' '..0x7f).contains(byte)).map_or(0, |before| before + 1);
    let end = memchr::memchr(0, &header[at..])? + at;
    Some(String::from_utf8_lossy(&header[begin..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAME: &str = "OpenJDK 64-Bit Server VM (25.0.2+10) for linux-amd64 JRE (25.0.2+10), built on some day";

    fn vm() -> ArchiveSettings {
        ArchiveSettings {
            build: NAME.as_bytes(),
            alignment: Some(8),
            compressed_oops: Some(true),
            compressed_classes: Some(true),
            compact_headers: Some(false),
        }
    }

    fn header() -> Vec<u8> {
        let mut header = vec![0; HEADER_BYTES];
        header[..4].copy_from_slice(&MAGIC[0].to_ne_bytes());
        header[JDK_25.regions + FILE_OFFSET_AT] = 100;
        header[JDK_25.regions + USED_AT] = 23;
        (header[JDK_25.alignment], header[JDK_25.compressed_oops], header[JDK_25.compressed_classes]) = (8, 1, 1);
        header[0x248..0x248 + NAME.len()].copy_from_slice(NAME.as_bytes());
        header
    }

    #[test]
    fn each_reason_is_found() {
        let of = |header: &[u8], vm: &ArchiveSettings| refusal(header, 123, 25, vm);
        assert_eq!(of(&header(), &vm()), None);
        assert_eq!(refusal(&header(), 122, 25, &vm()), Some((ArchiveRefusal::Truncated, String::new())));
        assert_eq!(of(&header()[..100], &vm()), Some((ArchiveRefusal::Truncated, String::new())));
        assert_eq!(of(b"PK", &vm()), Some((ArchiveRefusal::NoArchive, String::new())));
        let newer = ArchiveSettings { build: b"OpenJDK 64-Bit Server VM (25.0.3+9)", ..vm() };
        assert_eq!(of(&header(), &newer), Some((ArchiveRefusal::OtherJvm, NAME.into())));
        let flag = |vm| of(&header(), &vm).map(|(_, flag)| flag);
        assert_eq!(
            flag(ArchiveSettings { compressed_oops: Some(false), ..vm() }).as_deref(),
            Some("UseCompressedOops")
        );
        assert_eq!(
            flag(ArchiveSettings { compact_headers: Some(true), ..vm() }).as_deref(),
            Some("UseCompactObjectHeaders")
        );
        assert_eq!(flag(ArchiveSettings { alignment: Some(16), ..vm() }).as_deref(), Some("ObjectAlignmentInBytes"));
        assert_eq!(refusal(&header(), 0, 24, &ArchiveSettings { alignment: Some(16), ..vm() }), None);
    }

    proptest! {
        #[test]
        fn any_file_is_judged(mut bytes in proptest::collection::vec(any::<u8>(), 0..800), java in 11..27_u32, is_archive: bool) {
            if is_archive && bytes.len() >= 4 {
                bytes[..4].copy_from_slice(&MAGIC[1].to_ne_bytes());
            }
            let _ = refusal(&bytes, bytes.len() as u64, java, &vm());
            let _ = refusal(&bytes, u64::MAX, java, &ArchiveSettings { build: b"", ..vm() });
        }
    }
}
