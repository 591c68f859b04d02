//! The terminal: keys in, lines out, and as it was at the end.

use std::io::{self, Stdout, Write};
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::style::{Attribute, Print, SetAttribute};
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute, queue};

use super::keys::Key;
use super::screen::{Look, ScreenLine};

/// A terminal that shows a screen of ours until this is dropped.
#[derive(Debug)]
pub(crate) struct Terminal {
    out: Stdout,
}

/// What came from the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Key(Key),
    /// It has another size now.
    Resized,
    /// Nothing for so long.
    Nothing,
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
            queue!(self.out, cursor::MoveTo(0, row), SetAttribute(attribute(*look)), Print(line))?;
            queue!(self.out, SetAttribute(Attribute::Reset), Clear(ClearType::UntilNewLine))?;
        }
        let below = lines.len().try_into().unwrap_or(u16::MAX);
        if usize::from(below) < self.size().1 {
            queue!(self.out, cursor::MoveTo(0, below), Clear(ClearType::FromCursorDown))?;
        }
        self.out.flush()
    }

    /// Waits for a key, at most for so long.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(crate) fn wait(&self, longest: Duration) -> io::Result<Input> {
        if !event::poll(longest)? {
            return Ok(Input::Nothing);
        }
        Ok(match event::read()? {
            Event::Key(key) => key_of(key).map_or(Input::Nothing, Input::Key),
            Event::Resize(..) => Input::Resized,
            _ => Input::Nothing,
        })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may be gone.
        let _ = execute!(self.out, LeaveAlternateScreen, cursor::Show);
        let _ = terminal::disable_raw_mode();
    }
}

fn attribute(look: Look) -> Attribute {
    match look {
        Look::Plain => Attribute::Reset,
        Look::Bold => Attribute::Bold,
        Look::Reversed => Attribute::Reverse,
        Look::Dim => Attribute::Dim,
    }
}

fn key_of(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char('c' | 'd') if is_control => Key::Interrupt,
        KeyCode::Char(_) if is_control => return None,
        KeyCode::Char(letter) => Key::Char(letter),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        _ => return None,
    })
}
