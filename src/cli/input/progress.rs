//! How far a long reading has come: a bar on stderr, if a person is watching.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over the bytes of a file, shown only on a terminal. Without a length (a pipe) there is nothing to compare with, and no bar.
pub(crate) fn bar(bytes: Option<u64>, what: &str) -> ProgressBar {
    if bytes.is_none() || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(bytes, ProgressDrawTarget::stderr_with_hz(5));
    let style = ProgressStyle::with_template("{msg} {bar:30} {percent:>3} %  {bytes_per_sec}  {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what.to_owned());
    bar
}
