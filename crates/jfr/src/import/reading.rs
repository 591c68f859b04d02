//! The fields of an event.

use trace::time::{Nanos, Time};

use super::constants::Constants;
use super::pools::{ClassAt, Pools, Seen, ThreadAt};
use crate::read::{Chunk, Damage, Event, Object, Value};

/// An event that is read.
pub(super) struct Reading<'c, 'r> {
    chunk: &'c Chunk,
    pub(super) constants: &'r mut Constants<'c>,
    pub(super) object: Object,
}

impl<'c, 'r> Reading<'c, 'r> {
    pub(super) fn new(chunk: &'c Chunk, constants: &'r mut Constants<'c>, event: &Event) -> Self {
        Reading { chunk, constants, object: event.object }
    }

    /// A whole number.
    pub(super) fn number(&self, field: &str) -> Result<Option<i64>, Damage> {
        Ok(match self.chunk.get(self.object, field)? {
            Value::Number(number) => Some(number),
            _ => None,
        })
    }

    /// A number that is not negative.
    pub(super) fn bytes(&self, field: &str) -> Result<Option<u64>, Damage> {
        Ok(self.number(field)?.map(|number| number.max(0).cast_unsigned()))
    }

    /// When it began.
    pub(super) fn time(&self) -> Result<Time, Damage> {
        Ok(self.number("startTime")?.map_or(self.chunk.begin(), |ticks| self.chunk.time(ticks)))
    }

    /// A length of time.
    pub(super) fn span(&self, field: &str) -> Result<Option<Nanos>, Damage> {
        self.chunk.span(self.object, field)
    }

    /// From when to when it lasted.
    pub(super) fn borders(&self) -> Result<(Time, Time), Damage> {
        let (since, length) = (self.time()?, self.span("duration")?.unwrap_or_default());
        Ok((since, Time(since.0.saturating_add(length.0))))
    }

    pub(super) fn thread(&mut self, field: &str, pools: &mut Pools) -> Result<Option<ThreadAt>, Damage> {
        self.constants.thread(self.object, field, pools)
    }

    pub(super) fn class(&mut self, field: &str, pools: &mut Pools) -> Result<Option<ClassAt>, Damage> {
        self.constants.class(self.object, field, pools)
    }

    pub(super) fn stack(&mut self, pools: &mut Pools) -> Result<Seen, Damage> {
        self.constants.stack(self.object, pools)
    }
}
