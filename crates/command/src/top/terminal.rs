//! The terminal: keys in, lines out, and as it was at the end.

use std::io::{self, Stdout, Write};
use std::time::Duration;

use crossterm::event::{self, Event};
use crossterm::style::{Attribute, Print, SetAttribute};
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute, queue};

use super::screen::ScreenLine;

/// A terminal that shows a screen of ours until this is dropped.
#[derive(Debug)]
pub(crate) struct Terminal {
    out: Stdout,
}

impl Terminal {
    /// Takes the terminal.
    ///
    /// # Errors
    /// It cannot be set up.
    pub(crate) fn take() -> io::Result<Terminal> {
        terminal::enable_raw_mode()?;
        // From here on the drop gives it back.
        let mut terminal = Terminal { out: io::stdout() };
        execute!(terminal.out, EnterAlternateScreen, cursor::Hide)?;
        Ok(terminal)
    }

    /// Columns and lines.
    pub(crate) fn size(&self) -> (usize, usize) {
        terminal::size().map_or((80, 24), |(width, height)| (width.into(), height.into()))
    }

    /// Shows lines from the top on.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(crate) fn show(&mut self, lines: &[ScreenLine]) -> io::Result<()> {
        for (row, (look, line)) in (0..).zip(lines) {
            queue!(self.out, cursor::MoveTo(0, row), SetAttribute(*look), Print(line))?;
            queue!(self.out, SetAttribute(Attribute::Reset), Clear(ClearType::UntilNewLine))?;
        }
        let below = lines.len().try_into().unwrap_or(u16::MAX);
        if usize::from(below) < self.size().1 {
            queue!(self.out, cursor::MoveTo(0, below), Clear(ClearType::FromCursorDown))?;
        }
        self.out.flush()
    }

    /// Waits for a key or another size, at most for so long.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(crate) fn wait(&self, longest: Duration) -> io::Result<Option<Event>> {
        event::poll(longest)?.then(event::read).transpose()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may be gone.
        let _ = execute!(self.out, LeaveAlternateScreen, cursor::Show);
        let _ = terminal::disable_raw_mode();
    }
}
