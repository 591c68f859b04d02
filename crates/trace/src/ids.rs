//! The kinds of id a trace draws from, each its own type so that none passes for another.
//!
//! A number is valid from its defining element (`threadStart`, `classDef`, ...) to its undefining
//! one (`threadEnd`, `classUnload`, `objFree`); after that it may be reused.

macro_rules! ids {
    ($( $(#[$doc:meta])* $kind:ident($name:ident) = $words:literal; )*) => {
        /// An id of any kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Id { $( $kind($name), )* }

        impl Id {
            /// What has the id, in words.
            pub(crate) fn kind(self) -> &'static str {
                match self { $( Self::$kind(_) => $words, )* }
            }

            pub(crate) fn number(self) -> u64 {
                match self { $( Self::$kind(id) => id.0, )* }
            }
        }

        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name(pub u64);

            impl std::fmt::Display for $name {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    self.0.fmt(f)
                }
            }

            impl crate::attribute::Attribute<'_> for $name {
            const SCHEMA_TYPE: &'static str = "Id";

                fn write(&self, out: &mut Vec<u8>) {
                    self.0.write(out);
                }

                fn read(text: &str) -> Option<Self> {
                    crate::attribute::parse_u64(text.as_bytes()).map(Self)
                }

                fn read_usual(text: &[u8]) -> Option<(Self, &[u8])> {
                    crate::attribute::usual_u64(text).map(|(number, rest)| (Self(number), rest))
                }

                fn each_id(&self, take: &mut impl FnMut(Id)) {
                    take(Id::$kind(*self));
                }
            }
        )*
    };
}

ids! {
    /// Static id of a thread (`threadId`).
    Thread(ThreadId) = "thread";
    /// Static id of a class (`classId`).
    Class(ClassId) = "class";
    /// Static id of a method (`methodId`).
    Method(MethodId) = "method";
    /// Static id of an object (`objId`); 0 is "none or unknown".
    Object(ObjectId) = "object";
    /// Id of a call stack (`stackId`, a Martini extension); 0 is "none".
    Stack(StackId) = "stack";
    /// Id of a function of native code (`functionId`, a Martini extension).
    Function(FunctionId) = "function";
    /// Id of a heap dump (`heapDumpId`).
    HeapDump(HeapDumpId) = "heap dump";
}
