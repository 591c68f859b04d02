//! When a recording that is watched ends: on demand, after a time, with the JVM, or by itself.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_default};

/// Whether somebody asked for the end, by Ctrl-C or a signal. The second time is the end of the command.
#[derive(Clone, Debug)]
pub(crate) struct Asked(Arc<AtomicBool>);

impl Asked {
    /// Listens for signals from now on.
    ///
    /// # Errors
    /// The system does not let us.
    pub(crate) fn listen() -> io::Result<Asked> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: at the first signal nobody has asked yet.
            register_conditional_default(signal, Arc::clone(&asked))?;
            register(signal, Arc::clone(&asked))?;
        }
        Ok(Asked(asked))
    }

    /// One that hears no signals.
    pub(crate) fn by_nobody() -> Asked {
        Asked(Arc::new(AtomicBool::new(false)))
    }

    /// Asks for the end.
    pub(crate) fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is so.
    pub(crate) fn is_so(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a recording is not watched any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Somebody asked for it, or the time is over.
    Wanted,
    /// The JVM has ended, or the recording has.
    Foreign,
}

/// Waits; `tick` is called once a second with the time since the beginning.
pub(crate) fn wait(
    asked: &Asked,
    longest: Option<Duration>,
    mut has_ended: impl FnMut() -> bool,
    mut tick: impl FnMut(Duration),
) -> End {
    const PAUSE: Duration = Duration::from_millis(50);
    const TICK: Duration = Duration::from_secs(1);
    let begun = Instant::now();
    let mut next = TICK;
    loop {
        let elapsed = begun.elapsed();
        if asked.is_so() || longest.is_some_and(|longest| elapsed >= longest) {
            return End::Wanted;
        }
        if has_ended() {
            return End::Foreign;
        }
        if elapsed >= next {
            next = elapsed + TICK;
            tick(elapsed);
        }
        std::thread::sleep(longest.map_or(PAUSE, |longest| PAUSE.min(longest - elapsed)));
    }
}

/// A length of time on the command line: `500ms`, `30s`, `5m`, `2h`.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let millis: u64 = match unit {
        "ms" => 1,
        "s" | "" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => 0,
    };
    let length = number.parse::<u64>().ok().and_then(|number| number.checked_mul(millis)).filter(|&length| length > 0);
    length.map(Duration::from_millis).ok_or_else(|| "give a duration, such as 500ms, 30s, 5m or 2h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, millis) in [("500ms", 500), ("30s", 30_000), ("7", 7000), ("5m", 300_000), ("2h", 7_200_000)] {
            assert_eq!(time(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for wrong in ["", "s", "0s", "5d", "-1s", "1.5s", "99999999999999999999h", "9999999999999999h"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_wait_ends_for_the_first_reason() {
        let asked = Asked(Arc::new(AtomicBool::new(false)));
        let longest = Some(Duration::from_millis(1));
        assert_eq!(wait(&asked, longest, || false, |_| ()), End::Wanted);
        assert_eq!(wait(&asked, None, || true, |_| ()), End::Foreign);
        asked.0.store(true, Ordering::Relaxed);
        assert_eq!(wait(&asked, None, || true, |_| ()), End::Wanted);
    }
}
