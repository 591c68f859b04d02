//! What every part of the agent stands on.
//!
//! The parts, the lowest first:
//!
//! | part | is |
//! |---|---|
//! | `message` `clock` `ids` `mutex` `random` `helpers` `native_thread` `agent_thread` `request_file` | small parts that all others use |
//! | `signals` | loads that may fail, for signal handlers; signals of the agent's own |
//! | `native_symbols` | names of native functions |
//! | `tables` | what is known of classes, methods and threads |
//! | `events` `objects` | events on their way to the writer; single objects, their tags and deaths |

pub mod agent_thread;
pub mod clock;
pub mod events;
pub mod helpers;
pub mod ids;
pub mod message;
pub mod mutex;
pub mod native_symbols;
pub mod native_thread;
pub mod objects;
pub mod random;
pub mod request_file;
pub mod signals;
pub mod tables;
