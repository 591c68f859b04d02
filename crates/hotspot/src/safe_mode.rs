//! Whether HotSpot's private memory may be used at all.

use std::ffi::OsStr;

/// Switches the safe mode on for every recording; `0` allows what is not tested.
pub const VARIABLE: &str = "MARTINI_SAFE";

/// The newest feature release whose private memory the agent was tested with.
const NEWEST_TESTED: u32 = 25;

/// Why HotSpot's private memory is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SafeMode {
    /// The user wants it.
    Wanted,
    /// Nobody has tested this feature release.
    NewJdk(u32),
}

impl SafeMode {
    /// The reason, if there is one, in this process.
    pub fn now(internals: bool, java: u32) -> Option<SafeMode> {
        SafeMode::of(internals, std::env::var_os(VARIABLE).as_deref(), java)
    }

    /// The reason, if there is one: what the option `internals` and the environment's variable say, on that feature release.
    fn of(internals: bool, variable: Option<&OsStr>, java: u32) -> Option<SafeMode> {
        let variable = variable.filter(|value| !value.is_empty());
        match variable {
            _ if !internals => Some(SafeMode::Wanted),
            Some(value) if value != "0" => Some(SafeMode::Wanted),
            None if java > NEWEST_TESTED => Some(SafeMode::NewJdk(java)),
            _ => None,
        }
    }

    /// What the user has to know about it, if he did not ask for it.
    pub fn message(self) -> Option<String> {
        match self {
            SafeMode::Wanted => None,
            SafeMode::NewJdk(java) => Some(format!(
                "JDK {java} is newer than the tested ones (11 to {NEWEST_TESTED}), so Martini does not read the JVM's \
                 private memory, as with internals=off; set {VARIABLE}=0 to allow it"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_left_alone_if_somebody_wants_it_or_the_jdk_is_new() {
        let of = |internals, variable: &str, java| SafeMode::of(internals, Some(OsStr::new(variable)), java);
        assert_eq!(SafeMode::of(true, None, 25), None);
        assert_eq!(SafeMode::of(true, None, 26), Some(SafeMode::NewJdk(26)));
        assert_eq!(SafeMode::of(false, None, 25), Some(SafeMode::Wanted));
        assert_eq!(of(true, "1", 11), Some(SafeMode::Wanted));
        assert_eq!(of(true, "1", 26), Some(SafeMode::Wanted));
        assert_eq!(of(true, "", 17), None);
        assert_eq!(of(true, "", 26), Some(SafeMode::NewJdk(26)));
        assert_eq!(of(true, "0", 26), None);
        assert_eq!(of(false, "0", 26), Some(SafeMode::Wanted));
        assert!(SafeMode::NewJdk(26).message().is_some_and(|text| text.contains("JDK 26")));
    }
}
