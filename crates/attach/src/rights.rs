//! Acting with the rights of another user.

use std::io;
use std::thread;

use rustix::process::{Gid, Uid, getegid, geteuid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

use crate::ids::Owner;

/// Does something as that user: at once if we are it, otherwise on a thread that takes its rights, which only root can.
///
/// # Errors
/// We may not.
pub(crate) fn as_owner<T: Send>(owner: Owner, action: impl FnOnce() -> T + Send) -> io::Result<T> {
    let (uid, gid) = (Uid::from_raw(owner.uid), Gid::from_raw(owner.gid));
    if geteuid() == uid && (getegid() == gid || !geteuid().is_root()) {
        return Ok(action());
    }
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            set_thread_groups(&[gid])?;
            set_thread_res_gid(None, gid, None)?;
            set_thread_res_uid(None, uid, None)?;
            Ok(action())
        });
        thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread of martini panicked")))
    })
}
