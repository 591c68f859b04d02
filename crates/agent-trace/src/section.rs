//! What a feature adds to the trace.

use trace::time::Time;

use super::document::Document;
use super::source::{SourceNumber, Unread};
use agent_base::clock::Ticks;
use agent_base::events::event::Event;
use agent_base::ids::ThreadIndex;

/// A number at the end of the trace (`martiniCount`): key, detail and value.
pub type Count = (&'static str, Option<String>, u64);

/// What a feature adds to the trace, on the writer's thread. The writer calls it, and knows nothing else of the feature.
pub trait Section {
    /// Events behind this time have to wait.
    fn horizon(&self, horizon: Ticks) -> Ticks {
        horizon
    }

    /// Whether something came for which the writer may have to wait.
    fn gets_on(&self) -> bool {
        false
    }

    /// The times of what is to be inserted between events, up to the horizon and in order, since this was asked last.
    fn ready(&mut self, _horizon: Ticks) -> Vec<Ticks> {
        Vec::new()
    }

    /// Writes the first of what is ready: everything earlier is in the trace.
    fn insert(&mut self, _document: &mut Document, _unread: Unread<'_>) {}

    /// Writes an event, if it is one of its own; true if it was. The source tells buffers apart.
    fn event(&mut self, _document: &mut Document, _source: SourceNumber, _ticks: Ticks, _event: Event) -> bool {
        false
    }

    /// Writes what is new and is no event. Called in each turn, also if the trace is full, and before a thread ends.
    fn turn(&mut self, _document: &mut Document) {}

    /// A thread ends, which the next element says.
    fn thread_ends(&mut self, _document: &mut Document, _ticks: Ticks, _thread: ThreadIndex) {}

    /// All events are written, the end of the program is not.
    fn last_events(&mut self, _document: &mut Document) {}

    /// The end of the program is written: writes the last sums.
    fn sums(&mut self, _document: &mut Document, _time: Time) {}

    /// What it counted itself.
    fn counts(&mut self, _document: &Document) -> Vec<Count> {
        Vec::new()
    }

    /// Nothing more comes.
    fn finish(&mut self) {}
}
