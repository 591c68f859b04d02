//! What the keys do.

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

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A letter, digit or other sign.
    Char(char),
    /// Ctrl-C.
    Interrupt,
    Enter,
    Escape,
    Backspace,
    Tab,
    BackTab,
    Left,
    Right,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
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
    pub(crate) fn press(&mut self, key: Key, rows: usize) -> Next {
        if key == Key::Interrupt {
            return Next::Ends;
        }
        if self.is_typing {
            self.type_filter(key);
            return Next::Goes;
        }
        let topics = Topic::ALL.len();
        let columns = self.topic().columns().len();
        let column = &mut self.sorted_by[self.topic];
        match key {
            Key::Escape if self.shows_help => self.shows_help = false,
            Key::Escape => self.filter.clear(),
            Key::Char('q') => return Next::Ends,
            Key::Char('h' | '?') => self.shows_help = !self.shows_help,
            Key::Char(' ' | 'p') => self.is_paused = !self.is_paused,
            Key::Char('r') => self.is_reversed = !self.is_reversed,
            Key::Char('/') => self.is_typing = true,
            Key::Char(digit @ '1'..='5') => self.show(digit as usize - '1' as usize),
            Key::Tab => self.show((self.topic + 1) % topics),
            Key::BackTab => self.show((self.topic + topics - 1) % topics),
            Key::Left => *column = (*column + columns) % (columns + 1),
            Key::Right => *column = (*column + 1) % (columns + 1),
            Key::Up | Key::Char('k') => self.scrolled = self.scrolled.saturating_sub(1),
            Key::Down | Key::Char('j') => self.scrolled = (self.scrolled + 1).min(rows),
            Key::PageUp => self.scrolled = self.scrolled.saturating_sub(PAGE),
            Key::PageDown => self.scrolled = (self.scrolled + PAGE).min(rows),
            Key::Home => self.scrolled = 0,
            Key::Char(_) | Key::Enter | Key::Backspace | Key::Interrupt => {}
        }
        Next::Goes
    }

    fn show(&mut self, topic: usize) {
        (self.topic, self.scrolled, self.shows_help) = (topic, 0, false);
    }

    fn type_filter(&mut self, key: Key) {
        match key {
            Key::Enter => self.is_typing = false,
            Key::Escape => {
                self.is_typing = false;
                self.filter.clear();
            }
            Key::Backspace => drop(self.filter.pop()),
            Key::Char(letter) => self.filter.push(letter),
            _ => {}
        }
        self.scrolled = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(keys: &[Key]) -> View {
        let mut view = View::default();
        keys.iter().for_each(|&key| assert_eq!(view.press(key, 0), Next::Goes));
        view
    }

    #[test]
    fn keys_choose_what_is_shown() {
        assert_eq!(pressed(&[Key::Char('3')]).topic(), Topic::Cpu);
        assert_eq!(pressed(&[Key::BackTab]).topic(), Topic::Threads);
        assert_eq!(pressed(&[Key::BackTab, Key::Tab]).topic(), Topic::Lines);
        // Behind the last column come the names.
        let columns = Topic::Lines.columns().len();
        assert_eq!(pressed(&[Key::Left]).sorted_by(), columns);
        assert_eq!(pressed(&[Key::Left, Key::Right]).sorted_by(), 0);
    }

    #[test]
    fn a_filter_takes_letters_that_are_keys_otherwise() {
        let typed = [Key::Char('/'), Key::Char('q'), Key::Char('x'), Key::Backspace, Key::Char('?'), Key::Enter];
        let view = pressed(&typed);
        assert_eq!((view.filter.as_str(), view.is_typing, view.shows_help), ("q?", false, false));
        assert_eq!(pressed(&[&typed[..], &[Key::Escape]].concat()).filter, "");
        let mut typing = pressed(&typed[..2]);
        assert_eq!(typing.press(Key::Interrupt, 0), Next::Ends);
        assert_eq!(View::default().press(Key::Char('q'), 0), Next::Ends);
    }
}
