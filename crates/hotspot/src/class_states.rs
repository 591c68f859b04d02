//! How far the VM has come with a class: whether its static initialiser still runs.

use jvmti::{Field, int_constant};

use super::doubtful;

/// Where the VM keeps the state of a class, and what it means.
#[derive(Clone, Copy, Debug)]
pub struct ClassStates {
    /// In an `InstanceKlass`.
    offset: usize,
    being_initialised: u8,
    /// The last state that there is: the initialiser has thrown an exception.
    failed: u8,
}

impl ClassStates {
    /// Those of this VM.
    ///
    /// # Errors
    /// They are not known: part of a sentence.
    pub(crate) fn find() -> Result<ClassStates, &'static str> {
        let constant = |name| int_constant(name).and_then(|value| u8::try_from(value).ok());
        let (being, done, failed) = (
            constant(c"InstanceKlass::being_initialized"),
            constant(c"InstanceKlass::fully_initialized"),
            constant(c"InstanceKlass::initialization_error"),
        );
        let known = Field::offset_of(c"InstanceKlass", c"_init_state").zip(being).zip(done.zip(failed));
        match known {
            Some(((offset, being_initialised), (done, failed))) if being_initialised < done && done < failed => {
                Ok(ClassStates { offset, being_initialised, failed })
            }
            _ => Err("the JVM does not export the states of classes"),
        }
    }

    /// Whether the initialiser of the class at that address runs. `None` if there is no class any more: what lies there is no state
    /// that one has whose initialiser has begun.
    pub fn is_initialising(&self, klass: usize) -> Option<bool> {
        let state = doubtful::byte(klass.checked_add(self.offset)?)?;
        (self.being_initialised..=self.failed).contains(&state).then_some(state == self.being_initialised)
    }
}
