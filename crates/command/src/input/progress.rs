//! How far a long reading has come: a bar on stderr, if a person is watching.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

/// What takes less shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar over the bytes of a file: one line, shown only on a terminal and to those who wait, and gone when it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    began: Instant,
    /// Where the bar is to be drawn; `None` when it is, or if it never will be.
    waiting: Option<ProgressDrawTarget>,
}

/// A bar for reading so many bytes. Without a length (a pipe) there is nothing to compare with, and no bar.
pub(crate) fn bar(bytes: Option<u64>, what: &str) -> Progress {
    let is_watched = bytes.is_some() && std::io::stderr().is_terminal();
    Progress::new(bytes, what, is_watched.then(|| ProgressDrawTarget::stderr_with_hz(5)))
}

impl Progress {
    fn new(bytes: Option<u64>, what: &str, waiting: Option<ProgressDrawTarget>) -> Self {
        let bar = ProgressBar::with_draw_target(bytes, ProgressDrawTarget::hidden());
        // What is read comes last, and is cut off at the end of the line.
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {bytes_per_sec}  {eta} left  {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let bar = bar.with_finish(ProgressFinish::AndClear).with_message(what.to_owned());
        Progress { bar, began: Instant::now(), waiting }
    }

    /// What is being done.
    pub(crate) fn set_message(&self, what: &'static str) {
        self.bar.set_message(what);
    }

    /// How many bytes are read.
    pub(crate) fn set_position(&mut self, position: u64) {
        self.set_position_after(position, self.began.elapsed());
    }

    fn set_position_after(&mut self, position: u64, elapsed: Duration) {
        if elapsed >= PATIENCE
            && let Some(target) = self.waiting.take()
        {
            self.bar.set_draw_target(target);
        }
        self.bar.set_position(position);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal of 80 columns that keeps what it is sent: `-` stands for a line that was cleared.
    #[derive(Clone, Debug, Default)]
    struct Screen(Arc<Mutex<Vec<String>>>);

    impl Screen {
        fn sent(&self, text: &str) -> std::io::Result<()> {
            self.0.lock().unwrap().push(text.to_owned());
            Ok(())
        }

        fn shown(&self) -> Vec<String> {
            self.0.lock().unwrap().clone()
        }
    }

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            80
        }

        fn move_cursor_up(&self, lines: usize) -> std::io::Result<()> {
            assert_eq!(lines, 0, "the bar is one line");
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> std::io::Result<()> {
            self.sent(text)
        }

        fn write_str(&self, text: &str) -> std::io::Result<()> {
            self.sent(text)
        }

        fn clear_line(&self) -> std::io::Result<()> {
            self.sent("-")
        }

        fn flush(&self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn progress(screen: &Screen) -> Progress {
        let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
        Progress::new(Some(1000), &format!("reading {}.trcxml", "folder/".repeat(30)), Some(target))
    }

    #[test]
    fn what_is_read_at_once_shows_nothing() {
        let screen = Screen::default();
        let mut progress = progress(&screen);
        progress.set_position_after(10, PATIENCE - Duration::from_millis(1));
        drop(progress);
        assert_eq!(screen.shown(), Vec::<String>::new());
    }

    #[test]
    fn what_takes_longer_shows_one_line_that_goes_away() {
        let screen = Screen::default();
        let mut progress = progress(&screen);
        progress.set_position_after(500, PATIENCE);
        let shown = screen.shown();
        assert!(shown.iter().any(|text| text.contains(" 50 %") && text.contains("reading folder/")), "{shown:?}");
        let length = shown.iter().map(|text| text.chars().count()).max();
        assert!(length <= Some(80), "{shown:?}");
        drop(progress);
        let shown = screen.shown();
        let (bar, cleared) =
            (shown.iter().rposition(|text| text.contains('%')), shown.iter().rposition(|text| text == "-"));
        assert!(cleared > bar, "{shown:?}");
    }
}
