//! A JVM that runs already: where the agent and its files go, and the time until a recording ends.

pub(crate) mod agent_file;
pub(crate) mod checks;
pub(crate) mod live;
pub(crate) mod recording;
pub(crate) mod stage;
pub(crate) mod until;
