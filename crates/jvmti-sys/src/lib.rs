//! jvmti-sys
