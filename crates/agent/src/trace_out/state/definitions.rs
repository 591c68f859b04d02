//! What has been defined in the trace.

/// Which entries of a table have been defined in the trace.
#[derive(Default)]
pub(crate) struct Defined(Vec<bool>);

impl Defined {
    /// Marks an entry as defined; true if it was not.
    pub(crate) fn first(&mut self, index: u32) -> bool {
        let index = index as usize;
        if index >= self.0.len() {
            self.0.resize((index + 1).next_power_of_two(), false);
        }
        !std::mem::replace(&mut self.0[index], true)
    }

    pub(crate) fn contains(&self, index: u32) -> bool {
        self.0.get(index as usize).copied().unwrap_or(false)
    }
}

/// What has been defined.
#[derive(Default)]
pub(crate) struct Definitions {
    pub(crate) threads: Defined,
    /// Threads whose `threadEnd` has been written: the VM may still have them as objects.
    pub(crate) ended: Defined,
    pub(crate) classes: Defined,
    pub(crate) methods: Defined,
    pub(crate) stacks: Defined,
}
