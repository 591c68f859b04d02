//! How much the agent does for each allocation, or that it does nothing for each wait.

use std::ffi::CStr;
use std::str::FromStr;

use thiserror::Error;

/// From `Idle` on each mode does what the one before does, and one thing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    /// The VM reports each wait for a monitor to an empty callback; nothing is rewritten.
    Monitors,
    /// The agent asks for its capabilities and events, and rewrites nothing.
    Idle,
    /// At the start the VM redefines the classes that allocate, each as it is.
    Same,
    /// Rewritten code calls a Java method, which returns at once.
    Off,
    /// The Java method calls an empty native one.
    Native,
    /// The native method tags the object.
    Tag,
    /// The VM reports each death of a tagged object to an empty callback.
    Free,
}

/// A mode that does not exist.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("the option '{0}' is no mode: use monitors, idle, same, off, native, tag or free")]
pub(crate) struct UnknownMode(String);

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(option: &str) -> Result<Self, UnknownMode> {
        match option {
            "monitors" => Ok(Self::Monitors),
            "idle" => Ok(Self::Idle),
            "same" => Ok(Self::Same),
            "off" => Ok(Self::Off),
            "native" => Ok(Self::Native),
            "tag" => Ok(Self::Tag),
            "free" => Ok(Self::Free),
            _ => Err(UnknownMode(option.into())),
        }
    }
}

impl Mode {
    /// Which native method of the library the proxy declares.
    pub(crate) fn native_method(self) -> &'static CStr {
        match self {
            Self::Monitors | Self::Idle | Self::Same | Self::Off | Self::Native => c"nothing",
            Self::Tag | Self::Free => c"tag",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_build_on_each_other() {
        let modes = ["monitors", "idle", "same", "off", "native", "tag", "free"]
            .map(|option| option.parse::<Mode>().expect("a mode"));
        assert!(modes.is_sorted());
        assert_eq!("".parse::<Mode>(), Err(UnknownMode(String::new())));
    }
}
