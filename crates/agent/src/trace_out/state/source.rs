//! A buffer whose events are written.

use super::locks::PendingDetails;
use crate::trace_out::tallies::TallyIndex;
use agent_base::events::buffer::Consumer;
use agent_base::ids::ThreadIndex;

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
