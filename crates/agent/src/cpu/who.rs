//! Whose time a sample is.

use agent_base::ids::ThreadIndex;

/// Number of a thread that does not run Java, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct OtherThread(pub(crate) u32);

/// A platform thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// One that the VM shows.
    Java(ThreadIndex),
    /// One of the VM's own, or of native code.
    Other(OtherThread),
    /// One of the agent's, which is not sampled.
    Agent,
}

const OTHER: u32 = 1 << 31;

impl Who {
    /// As one word, which the signal handler reads.
    pub(super) fn pack(self) -> u32 {
        match self {
            Who::Java(index) => index.0 & !OTHER,
            Who::Other(number) => number.0 | OTHER,
            Who::Agent => u32::MAX,
        }
    }

    pub(super) fn unpack(word: u32) -> Who {
        match word {
            u32::MAX => Who::Agent,
            word if word & OTHER != 0 => Who::Other(OtherThread(word & !OTHER)),
            word => Who::Java(ThreadIndex(word)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacking_undoes_packing() {
        for who in [Who::Java(ThreadIndex(0)), Who::Java(ThreadIndex(77)), Who::Other(OtherThread(0)), Who::Agent] {
            assert_eq!(Who::unpack(who.pack()), who);
        }
    }
}
