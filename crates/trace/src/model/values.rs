//! The attribute values that are neither numbers nor texts.

use std::borrow::Cow;
use std::fmt;

use crate::attribute::{self, Attribute};
use crate::ids::{Id, MethodId, ThreadId};

/// Declares an enum whose values stand in a trace as fixed words.
macro_rules! words {
    (
        $(#[$doc:meta])*
        $name:ident { $( $(#[$variant_doc:meta])* $variant:ident = $word:literal, )+ }
        $(else $other:ident)?
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum $name { $( $(#[$variant_doc])* $variant, )+ }

        impl $name {
            /// All values, in the order of their declaration.
            pub const ALL: &[Self] = &[ $( Self::$variant, )+ ];

            /// The word that a trace uses.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Attribute<'_> for $name {
        const SCHEMA_TYPE: &'static str = stringify!($name);

            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(self.as_str().as_bytes());
            }

            fn read(raw: &str) -> Option<Self> {
                match raw {
                    $( $word => Some(Self::$variant), )+
                    _ => words!(@other $($other)?),
                }
            }
        }
    };
    (@other) => { None };
    (@other $other:ident) => { Some(Self::$other) };
}

words! {
    /// What a filter entry does with what it matches.
    FilterMode {
        /// Report it.
        #[default]
        Include = "INCLUDE",
        /// Leave it out.
        Exclude = "EXCLUDE",
    }
}

words! {
    /// Where the `*` of a filter pattern stood before it was cut off.
    Wildcard {
        /// Nowhere: the pattern is a whole name.
        #[default]
        None = "NONE",
        /// In front: names that end with the pattern; with an empty pattern, every name.
        Prefix = "PREFIX",
        /// Behind: names that begin with the pattern.
        Suffix = "SUFFIX",
    }
}

words! {
    /// Why the collector keeps an object.
    RootType {
        /// A global JNI reference.
        JniGlobal = "JNIGlobal",
        /// A local JNI reference.
        JniLocal = "JNILocal",
        /// A local variable of a Java frame.
        JavaFrame = "JavaFrame",
        /// The stack of a native frame.
        NativeStack = "NativeStack",
        /// A class of the system loader.
        StickyClass = "StickyClass",
        /// A block of the VM's that belongs to a thread.
        ThreadBlock = "ThreadBlock",
        /// A monitor in use.
        MonitorUsed = "MonitorUsed",
        /// A live thread.
        ThreadObject = "ThreadObject",
        /// None of the other kinds.
        #[default]
        Unknown = "Unknown",
    }
    // The words are our choice, so a foreign trace may have others.
    else Unknown
}

words! {
    /// How allocations came into an [`AllocCount`](super::AllocCount), other than by bytecode that counts.
    CountSource {
        /// The JVM reported it: by an event, or by its accounting around a native method.
        #[default]
        Vm = "vm",
    }
}

words! {
    /// Yes or no.
    Flag {
        /// No.
        #[default]
        No = "0",
        /// Yes.
        Yes = "1",
    }
}

words! {
    /// What ended a wait.
    WaitEnd {
        /// Another thread notified or unparked the waiting one, or it woke for no reason.
        #[default]
        Notified = "notified",
        /// The time was over.
        TimedOut = "timeout",
        /// Another thread interrupted the waiting one.
        Interrupted = "interrupted",
    }
}

words! {
    /// What a thread does: the names of `java.lang.Thread.State`.
    ThreadState {
        /// Made, but not started.
        New = "NEW",
        /// It runs, or could.
        #[default]
        Runnable = "RUNNABLE",
        /// Another thread owns the monitor that it wants.
        Blocked = "BLOCKED",
        /// It waits, without a limit.
        Waiting = "WAITING",
        /// It waits or sleeps, with a limit.
        TimedWaiting = "TIMED_WAITING",
        /// It has ended.
        Terminated = "TERMINATED",
    }
}

words! {
    /// What a thread is that does not run Java.
    ThreadKind {
        /// One of the VM's: it collects garbage, compiles, ...
        #[default]
        Vm = "vm",
        /// One that native code made.
        Native = "native",
    }
    // Later versions may know more.
    else Native
}

words! {
    /// What compiled a piece of code.
    CodeTier {
        /// Nothing: it is what the VM puts around a native method.
        #[default]
        Native = "native",
        /// C1, without counting calls and loops: the code stays.
        C1 = "c1",
        /// C1, with counters.
        C1Limited = "c1-limited",
        /// C1, with full profiling.
        C1Full = "c1-full",
        /// C2, or another optimising compiler.
        C2 = "c2",
    }
}

impl CodeTier {
    /// That of HotSpot's level, 0 to 4.
    pub fn of_level(level: u32) -> Option<CodeTier> {
        CodeTier::ALL.get(level as usize).copied()
    }
}

words! {
    /// Why a JVM does not use an archive of classes.
    ArchiveRefusal {
        /// Nothing that was looked at explains it.
        #[default]
        Unknown = "unknown",
        /// There is no such file.
        Missing = "missing",
        /// It cannot be read.
        Unreadable = "unreadable",
        /// It is no archive of classes.
        NoArchive = "noArchive",
        /// Another build of the JVM made it.
        OtherJvm = "otherJvm",
        /// Its end is missing.
        Truncated = "truncated",
        /// It was made with another value of a flag.
        Flag = "flag",
        /// An option of the command line excludes archives.
        Option = "option",
        /// An agent is told of classes as they are loaded.
        Agent = "agent",
        /// A jar was changed after the archive was made.
        ChangedJar = "changedJar",
        /// The class path begins with something else.
        ClassPath = "classPath",
    }
}

/// Ids of threads, separated by blanks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadIds<'a>(pub Cow<'a, [ThreadId]>);

impl<'a> Attribute<'a> for ThreadIds<'a> {
    const SCHEMA_TYPE: &'static str = "Ids";

    fn write(&self, out: &mut Vec<u8>) {
        for (index, thread) in self.0.iter().enumerate() {
            if index > 0 {
                out.push(b' ');
            }
            thread.write(out);
        }
    }

    fn read(raw: &'a str) -> Option<Self> {
        let threads: Option<Vec<ThreadId>> = raw.split_ascii_whitespace().map(ThreadId::read).collect();
        Some(Self(Cow::Owned(threads?)))
    }

    fn each_id(&self, take: &mut impl FnMut(Id)) {
        self.0.iter().for_each(|thread| thread.each_id(take));
    }
}

/// What kind of array an object is, as the type code of JVMPI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ArrayCode(pub u8);

impl ArrayCode {
    /// Not an array.
    pub const OBJECT: Self = Self(0);
    /// An array of references, so also an array of arrays.
    pub const REFERENCE: Self = Self(2);
    /// `boolean[]`
    pub const BOOLEAN: Self = Self(4);
    /// `char[]`
    pub const CHAR: Self = Self(5);
    /// `float[]`
    pub const FLOAT: Self = Self(6);
    /// `double[]`
    pub const DOUBLE: Self = Self(7);
    /// `byte[]`
    pub const BYTE: Self = Self(8);
    /// `short[]`
    pub const SHORT: Self = Self(9);
    /// `int[]`
    pub const INT: Self = Self(10);
    /// `long[]`
    pub const LONG: Self = Self(11);

    /// Whether the object is an array of any kind.
    pub fn is_array(self) -> bool {
        self.0 != 0
    }

    /// Whether JVMPI knows the code.
    pub fn is_known(self) -> bool {
        matches!(self.0, 0 | 2 | 4..=11)
    }
}

impl Attribute<'_> for ArrayCode {
    const SCHEMA_TYPE: &'static str = "ArrayCode";

    fn write(&self, out: &mut Vec<u8>) {
        attribute::write_u64(self.0.into(), out);
    }

    fn read(raw: &str) -> Option<Self> {
        match raw {
            // No real `objAlloc` of TPTP's JVMTI profiler was found; it may have written these.
            "false" => Some(Self::OBJECT),
            "true" => Some(Self::REFERENCE),
            code => attribute::parse_u64(code.as_bytes())?.try_into().ok().map(Self),
        }
    }
}

/// One frame of a call stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The method.
    pub method: MethodId,
    /// The source line, 1-based; 0 if unknown or native.
    pub line: u32,
}

/// The frames of a [`StackDef`](super::StackDef), innermost first: `12:40 9:7`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frames<'a>(pub Cow<'a, [Frame]>);

impl<'a> Attribute<'a> for Frames<'a> {
    const SCHEMA_TYPE: &'static str = "Frames";

    fn write(&self, out: &mut Vec<u8>) {
        for (index, frame) in self.0.iter().enumerate() {
            if index > 0 {
                out.push(b' ');
            }
            frame.method.write(out);
            out.push(b':');
            attribute::write_u64(frame.line.into(), out);
        }
    }

    fn read(raw: &'a str) -> Option<Self> {
        let frames: Option<Vec<Frame>> = raw
            .split_ascii_whitespace()
            .map(|frame| {
                let (method, line) = frame.split_once(':')?;
                Some(Frame { method: MethodId::read(method)?, line: u64::read(line)?.try_into().ok()? })
            })
            .collect();
        Some(Self(Cow::Owned(frames?)))
    }

    fn each_id(&self, take: &mut impl FnMut(Id)) {
        self.0.iter().for_each(|frame| frame.method.each_id(take));
    }
}

/// How a frame of a stack ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameType {
    /// By the interpreter.
    Interpreted,
    /// As code of C1, at that tier.
    C1(Tier),
    /// As code of C2, or of another optimising compiler.
    C2,
    /// It is a native method.
    Native,
    /// Compiled into the next frame outwards that is not inlined.
    Inlined,
}

/// The tier of C1's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tier {
    /// Without profiling.
    Simple,
    /// With counters.
    Limited,
    /// With full profiling.
    Full,
}

impl FrameType {
    /// Every type, with the letter that a trace uses.
    pub const LETTERS: [(FrameType, u8); 7] = [
        (FrameType::Interpreted, b'I'),
        (FrameType::C1(Tier::Simple), b'1'),
        (FrameType::C1(Tier::Limited), b'2'),
        (FrameType::C1(Tier::Full), b'3'),
        (FrameType::C2, b'4'),
        (FrameType::Native, b'N'),
        (FrameType::Inlined, b'i'),
    ];

    fn letter(self) -> u8 {
        let found = FrameType::LETTERS.iter().find(|(known, _)| *known == self);
        found.map_or(b'?', |&(_, letter)| letter)
    }

    fn of(letter: u8) -> Option<FrameType> {
        FrameType::LETTERS.iter().find(|(_, known)| *known == letter).map(|&(found, _)| found)
    }
}

/// How the frames of a [`StackDef`](super::StackDef) ran, innermost first: `iiI`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameTypes<'a>(pub Cow<'a, [FrameType]>);

impl<'a> Attribute<'a> for FrameTypes<'a> {
    const SCHEMA_TYPE: &'static str = "FrameTypes";

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.0.iter().map(|found| found.letter()));
    }

    fn read(raw: &'a str) -> Option<Self> {
        let types: Option<Vec<FrameType>> = raw.bytes().map(FrameType::of).collect();
        Some(Self(Cow::Owned(types?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_pairs_of_method_and_line() {
        let frames = Frames::read("12:40 9:0").unwrap();
        assert_eq!(*frames.0, [Frame { method: MethodId(12), line: 40 }, Frame { method: MethodId(9), line: 0 }]);
        let mut out = Vec::new();
        frames.write(&mut out);
        assert_eq!(out, b"12:40 9:0");
        assert_eq!(Frames::read(""), Some(Frames::default()));
        for raw in ["12", "12:", ":1", "12:-1", "a:1", "1:4294967296"] {
            assert_eq!(Frames::read(raw), None, "{raw}");
        }
    }

    #[test]
    fn types_of_frames_are_letters() {
        let types = FrameTypes::read("I1234Ni").unwrap();
        assert_eq!(types.0.len(), FrameType::LETTERS.len());
        let mut out = Vec::new();
        types.write(&mut out);
        assert_eq!(out, b"I1234Ni");
        assert_eq!(FrameTypes::read("I?"), None);
    }

    #[test]
    fn thread_ids_are_numbers_with_blanks_between() {
        let threads = ThreadIds::read("3 12").unwrap();
        assert_eq!(*threads.0, [ThreadId(3), ThreadId(12)]);
        let mut out = Vec::new();
        threads.write(&mut out);
        assert_eq!(out, b"3 12");
        assert_eq!(ThreadIds::read(""), Some(ThreadIds::default()));
        assert_eq!(ThreadIds::read("3,12"), None);
    }

    #[test]
    fn words_are_exact() {
        for &root in RootType::ALL {
            assert_eq!(RootType::read(root.as_str()), Some(root));
        }
        assert_eq!(FilterMode::read("include"), None);
        assert_eq!(RootType::read("SystemClass"), Some(RootType::Unknown));
    }

    #[test]
    fn array_codes() {
        assert_eq!(ArrayCode::read("11"), Some(ArrayCode::LONG));
        assert_eq!(ArrayCode::read("true"), Some(ArrayCode::REFERENCE));
        assert_eq!(ArrayCode::read("256"), None);
        assert!(!ArrayCode(1).is_known() && !ArrayCode(3).is_known() && !ArrayCode(12).is_known());
        assert!(ArrayCode::REFERENCE.is_array() && !ArrayCode::OBJECT.is_array());
    }
}
