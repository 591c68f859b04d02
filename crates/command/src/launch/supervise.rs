//! Runs a program in our place: its input, output and exit status are ours, and so are the signals.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::flag::register_conditional_default;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use crate::exit::{CANNOT_START, Failure, NOT_FOUND, SIGNAL_BASE};

/// Runs a program to its end, and calls `started` with its process id once it runs; gives its exit code, or 128 + n after signal n. We outlive every signal that the program gets, to report on what it leaves behind.
pub(crate) fn run(command: &mut Command, started: impl FnOnce(u32)) -> anyhow::Result<u8> {
    // Installed before the program starts, so that neither its end nor an early Ctrl-C is missed. A handler, not SIG_IGN:
    // the program would inherit the latter.
    let mut signals = SignalsInfo::<WithOrigin>::new([SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2])?;
    let mut child = command.spawn().map_err(|error| cannot_start(command, &error))?;
    started(child.id());
    for origin in signals.forever() {
        if origin.signal != SIGCHLD {
            forward(&child, &origin);
        } else if let Some(status) = child.try_wait()? {
            restore_signals()?;
            return Ok(exit_status(status));
        }
    }
    // The iterator ends only when its handle is closed, and no handle was taken.
    let status = child.wait()?;
    Ok(exit_status(status))
}

/// Passes a signal on. What the terminal sends (Ctrl-C, Ctrl-\, hang-up) goes to the whole process group: the program has it
/// already, and a second Ctrl-C often means "stop at once".
fn forward(child: &Child, origin: &Origin) {
    if origin.cause == Cause::Kernel {
        return;
    }
    if let Some(signal) = Signal::from_named_raw(origin.signal) {
        // The child has not been waited for, so its id is still its own. If it is dead already, the signal is not needed.
        let _ = kill_process(Pid::from_child(child), signal);
    }
}

/// What we do after the program ended can be stopped by the same signals as any other command.
fn restore_signals() -> std::io::Result<()> {
    let always = Arc::new(AtomicBool::new(true));
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2] {
        register_conditional_default(signal, Arc::clone(&always))?;
    }
    Ok(())
}

fn exit_status(status: ExitStatus) -> u8 {
    let number = status.code().or(status.signal().map(|signal| i32::from(SIGNAL_BASE) + signal));
    number.and_then(|number| u8::try_from(number).ok()).unwrap_or(u8::MAX)
}

fn cannot_start(command: &Command, error: &std::io::Error) -> Failure {
    let program = Path::new(command.get_program()).display();
    if error.kind() == std::io::ErrorKind::NotFound {
        let message = format!("{program} was not found; check the name and the PATH");
        return Failure { status: NOT_FOUND, message };
    }
    Failure { status: CANNOT_START, message: format!("cannot start {program}: {error}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> u8 {
        run(Command::new("sh").args(["-c", script]), |_| ()).unwrap()
    }

    #[test]
    fn exit_codes_and_signals_become_our_status() {
        assert_eq!(shell("exit 0"), 0);
        assert_eq!(shell("exit 42"), 42);
        assert_eq!(shell("kill -TERM $$"), 143);
        assert_eq!(shell("kill -KILL $$"), 137);
    }

    #[test]
    fn what_cannot_be_started_has_the_status_of_the_shells() {
        let status =
            |program: &str| run(&mut Command::new(program), |_| ()).unwrap_err().downcast::<Failure>().unwrap().status;
        assert_eq!(status("/nowhere/program"), NOT_FOUND);
        assert_eq!(status("/"), CANNOT_START);
    }
}
