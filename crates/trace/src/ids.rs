//! The kinds of id a trace draws from, each its own type so that none passes for another.
//!
//! A number is valid from its defining element (`threadStart`, `classDef`, ...) to its undefining
//! one (`threadEnd`, `classUnload`, `objFree`); after that it may be reused.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl crate::attribute::Attribute<'_> for $name {
            fn write(&self, out: &mut Vec<u8>) {
                self.0.write(out);
            }

            fn read(text: &str) -> Option<Self> {
                crate::attribute::parse_u64(text.as_bytes()).map(Self)
            }
        }
    };
}

id! {
    /// Static id of a thread (`threadId`).
    ThreadId
}
id! {
    /// Static id of a class (`classId`).
    ClassId
}
id! {
    /// Static id of a method (`methodId`).
    MethodId
}
id! {
    /// Static id of an object (`objId`); 0 is "none or unknown".
    ObjectId
}
id! {
    /// Id of a call stack (`stackId`, a Martini extension); 0 is "none".
    StackId
}
id! {
    /// Id of a function of native code (`functionId`, a Martini extension).
    FunctionId
}
id! {
    /// Id of a heap dump (`heapDumpId`).
    HeapDumpId
}
