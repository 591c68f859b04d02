//! What the keys do.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::figures::Topic;

/// What of the tables is shown, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// Which of the topics.
    pub(crate) topic: usize,
    /// By which column each topic is sorted.
    pub(crate) sorted_by: [usize; Topic::ALL.len()],
    /// The least first.
    pub(crate) is_reversed: bool,
    /// Only rows whose names have this in them, in capitals or not.
    pub(crate) filter: String,
    /// The filter is being typed.
    pub(crate) is_typing: bool,
    /// Numbers stay as they are.
    pub(crate) is_paused: bool,
    /// The keys are explained in place of a table.
    pub(crate) shows_help: bool,
    /// Rows that are above the first shown one.
    pub(crate) scrolled: usize,
}

/// Whether the view goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Goes,
    Ends,
}

/// The keys, for the help.
pub(crate) const HELP: [(&str, &str); 11] = [
    ("1 .. 5, Tab", "select the table: lines, classes, cpu, locks, threads"),
    ("Left, Right", "select the sort column"),
    ("r", "reverse the order"),
    ("/", "filter rows by text; Enter keeps the filter, Esc clears it"),
    ("Up, Down", "scroll; also PageUp, PageDown, Home, j, k"),
    ("Space, p", "pause and resume"),
    ("h, ?", "this help"),
    ("q, Ctrl-C", "end"),
    ("", ""),
    ("rates", "over the last five seconds, or since the previous numbers"),
    ("cpu, blocked", "100 % is one processor, or one thread, all the time"),
];

/// Rows that a page has at least.
const PAGE: usize = 10;

impl View {
    /// What is shown.
    pub(crate) fn topic(&self) -> Topic {
        Topic::ALL[self.topic]
    }

    /// By which of its columns it is sorted.
    pub(crate) fn sorted_by(&self) -> usize {
        self.sorted_by[self.topic]
    }

    /// Does what a key stands for, with so many rows to scroll.
    pub(crate) fn press(&mut self, key: KeyEvent, rows: usize) -> Next {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c' | 'd') if is_control => return Next::Ends,
            KeyCode::Char(_) if is_control => return Next::Goes,
            code if self.is_typing => {
                self.type_filter(code);
                return Next::Goes;
            }
            _ => {}
        }
        let topics = Topic::ALL.len();
        let columns = self.topic().columns().len();
        let column = &mut self.sorted_by[self.topic];
        match key.code {
            KeyCode::Esc if self.shows_help => self.shows_help = false,
            KeyCode::Esc => self.filter.clear(),
            KeyCode::Char('q') => return Next::Ends,
            KeyCode::Char('h' | '?') => self.shows_help = !self.shows_help,
            KeyCode::Char(' ' | 'p') => self.is_paused = !self.is_paused,
            KeyCode::Char('r') => self.is_reversed = !self.is_reversed,
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Char(digit @ '1'..='5') => self.show(digit as usize - '1' as usize),
            KeyCode::Tab => self.show((self.topic + 1) % topics),
            KeyCode::BackTab => self.show((self.topic + topics - 1) % topics),
            KeyCode::Left => *column = (*column + columns) % (columns + 1),
            KeyCode::Right => *column = (*column + 1) % (columns + 1),
            KeyCode::Up | KeyCode::Char('k') => self.scrolled = self.scrolled.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.scrolled = (self.scrolled + 1).min(rows),
            KeyCode::PageUp => self.scrolled = self.scrolled.saturating_sub(PAGE),
            KeyCode::PageDown => self.scrolled = (self.scrolled + PAGE).min(rows),
            KeyCode::Home => self.scrolled = 0,
            _ => {}
        }
        Next::Goes
    }

    fn show(&mut self, topic: usize) {
        (self.topic, self.scrolled, self.shows_help) = (topic, 0, false);
    }

    fn type_filter(&mut self, key: KeyCode) {
        match key {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.is_typing = false;
                self.filter.clear();
            }
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Char(letter) => self.filter.push(letter),
            _ => {}
        }
        self.scrolled = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(keys: &[KeyCode]) -> View {
        let mut view = View::default();
        keys.iter().for_each(|&key| assert_eq!(view.press(key.into(), 0), Next::Goes));
        view
    }

    #[test]
    fn keys_choose_what_is_shown() {
        assert_eq!(pressed(&[KeyCode::Char('3')]).topic(), Topic::Cpu);
        assert_eq!(pressed(&[KeyCode::BackTab]).topic(), Topic::Threads);
        assert_eq!(pressed(&[KeyCode::BackTab, KeyCode::Tab]).topic(), Topic::Lines);
        // Behind the last column come the names.
        let columns = Topic::Lines.columns().len();
        assert_eq!(pressed(&[KeyCode::Left]).sorted_by(), columns);
        assert_eq!(pressed(&[KeyCode::Left, KeyCode::Right]).sorted_by(), 0);
    }

    #[test]
    fn a_filter_takes_letters_that_are_keys_otherwise() {
        let typed = [
            KeyCode::Char('/'),
            KeyCode::Char('q'),
            KeyCode::Char('x'),
            KeyCode::Backspace,
            KeyCode::Char('?'),
            KeyCode::Enter,
        ];
        let view = pressed(&typed);
        assert_eq!((view.filter.as_str(), view.is_typing, view.shows_help), ("q?", false, false));
        assert_eq!(pressed(&[&typed[..], &[KeyCode::Esc]].concat()).filter, "");
        let mut typing = pressed(&typed[..2]);
        assert_eq!(typing.press(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL), 0), Next::Ends);
        assert_eq!(View::default().press(KeyCode::Char('q').into(), 0), Next::Ends);
    }
}
