//! Many traces in one place: the rows of [`analysis`] in columns, as Parquet files in a folder that any engine for SQL can read.
//!
//! A [`Store`] is that folder. What is in it at all times, and what each column means, says `docs/reference/fleet.md`, of which
//! [`schema`] is the code. Nothing is computed here a second time: a [`Recording`] takes its numbers from the reports of `analysis`.

pub mod answer;
pub mod columns;
mod content;
mod disk;
mod labels;
mod names;
pub mod parquet_file;
pub mod questions;
mod recording;
mod rows;
pub mod schema;
mod store;

pub use content::ContentId;
pub use labels::{Labels, Resolved};
pub use recording::Recording;
pub use store::{Added, Compacted, Pruned, Store, StoreError};
