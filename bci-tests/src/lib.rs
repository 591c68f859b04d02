//! bci-tests
