//! Instances whose constructor may run later than their allocation, or never.

/// Instances that `Unsafe.allocateInstance` made and that were reported: if a constructor runs on one after all (method
/// handles do so), its hook must not report it again.
#[derive(Default)]
pub(crate) struct Unconstructed {
    instances: u32,
    expiry: u32,
}

impl Unconstructed {
    /// If so many constructors run meanwhile, it is assumed that none will run on the instances.
    const EXPIRY: u32 = 4096;

    /// Such an instance was made.
    pub(crate) fn made(&mut self) {
        self.instances += 1;
        self.expiry = Self::EXPIRY;
    }

    /// Whether an object whose constructor runs now may be one of them.
    #[inline]
    pub(crate) fn expected(&mut self) -> bool {
        if self.instances == 0 {
            return false;
        }
        self.expiry -= 1;
        if self.expiry == 0 {
            self.instances = 0;
        }
        true
    }

    /// It is one of them.
    pub(crate) fn constructed(&mut self) {
        self.instances = self.instances.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_is_expected_until_constructed_or_given_up() {
        let mut unconstructed = Unconstructed::default();
        assert!(!unconstructed.expected());
        unconstructed.made();
        assert!(unconstructed.expected());
        unconstructed.constructed();
        assert!(!unconstructed.expected());
        unconstructed.made();
        assert_eq!((0..10_000).filter(|_| unconstructed.expected()).count(), Unconstructed::EXPIRY as usize);
    }
}
