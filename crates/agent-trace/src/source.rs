//! A buffer whose events are written.

use super::tallies::TallyIndex;
use agent_base::events::buffer::Consumer;
use agent_base::events::event::Event;
use agent_base::ids::ThreadIndex;

/// Which buffer it is; no other ever has the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceNumber(pub(super) u32);

/// The buffer of a platform thread.
pub(super) struct EventSource {
    pub(super) number: SourceNumber,
    pub(super) consumer: Consumer,
    /// The tally of the platform thread.
    pub(super) tally: TallyIndex,
    /// The thread whose events these are: the platform thread, or a virtual one that it carries.
    pub(super) thread: ThreadIndex,
}

/// The events that are not written yet.
#[derive(Clone, Copy)]
pub struct Unread<'s>(pub(super) &'s [EventSource]);

impl Unread<'_> {
    /// Calls for each, those of one buffer in order.
    pub fn each(self, mut see: impl FnMut(Event)) {
        self.0.iter().for_each(|source| source.consumer.each_unread(|record| see(Event::unpack(&record))));
    }
}
