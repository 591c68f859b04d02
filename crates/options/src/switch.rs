//! The switch that stands above all options.

/// The environment variable that switches the agent off, unless it is empty or `0`.
pub const OFF: &str = "MARTINI_OFF";

/// Whether the agent is to do nothing, whatever its options say.
pub fn is_switched_off() -> bool {
    std::env::var_os(OFF).is_some_and(|value| !value.is_empty() && value != "0")
}
