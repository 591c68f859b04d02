//! A buffer whose events are written.

use super::locks::PendingDetails;
use crate::agent::events::buffer::Consumer;
use crate::agent::ids::ThreadIndex;
use crate::agent::trace_out::tallies::TallyIndex;

/// The buffer of a platform thread.
pub(crate) struct EventSource {
    pub(crate) consumer: Consumer,
    /// The tally of the platform thread.
    pub(crate) tally: TallyIndex,
    /// The thread whose events these are: the platform thread, or a virtual one that it carries.
    pub(crate) thread: ThreadIndex,
    /// Details that came before the event to which they belong.
    pub(crate) pending: PendingDetails,
}
