//! What `martini stats --by` takes.

use std::path::Path;

use analysis::allocations::By;
use analysis::cpu::CpuBy;
use analysis::execution::CallBy;
use anyhow::bail;
use clap::ValueEnum;

/// What `--by` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Rows {
    /// Line of your code
    Line,
    /// Method of your code (samples: that ran; calls: any)
    Method,
    /// Module of your code (samples: that ran)
    Module,
    /// Package of the objects (samples: that ran; calls: any)
    Package,
    /// Class of the objects (samples: that ran; calls: any)
    Class,
    /// Class and innermost frame
    Site,
    /// Thread (samples: virtual ones too)
    Thread,
    /// Samples only: carrier thread with its virtual threads
    Carrier,
    /// Samples only: native function
    Function,
    /// Samples only: interpreted, compiled or native
    Kind,
}

impl Rows {
    /// The rows of tables of objects.
    ///
    /// # Errors
    /// They have no such rows.
    pub(super) fn of_objects(self, path: &Path) -> anyhow::Result<By> {
        Ok(match self {
            Rows::Line => By::Line,
            Rows::Method => By::Method,
            Rows::Module => By::Module,
            Rows::Package => By::Package,
            Rows::Class => By::Class,
            Rows::Site => By::Site,
            Rows::Thread => By::Thread,
            Rows::Carrier | Rows::Function | Rows::Kind => {
                bail!("{}: objects have no such rows; add --cpu or --wall for samples", path.display())
            }
        })
    }

    /// The rows of tables of samples.
    ///
    /// # Errors
    /// They have no such rows.
    pub(super) fn of_samples(self, path: &Path) -> anyhow::Result<CpuBy> {
        Ok(match self {
            Rows::Line => CpuBy::Line,
            Rows::Method => CpuBy::Method,
            Rows::Module => CpuBy::Module,
            Rows::Package => CpuBy::Package,
            Rows::Class => CpuBy::Class,
            Rows::Thread => CpuBy::Thread,
            Rows::Carrier => CpuBy::Carrier,
            Rows::Function => CpuBy::Function,
            Rows::Kind => CpuBy::Kind,
            Rows::Site => bail!("{}: samples have no allocation sites; use --by line", path.display()),
        })
    }

    /// The rows of tables of calls.
    ///
    /// # Errors
    /// They have no such rows.
    pub(super) fn of_calls(self, path: &Path) -> anyhow::Result<CallBy> {
        Ok(match self {
            Rows::Method => CallBy::Method,
            Rows::Class => CallBy::Class,
            Rows::Package => CallBy::Package,
            Rows::Thread => CallBy::Thread,
            Rows::Line | Rows::Module | Rows::Site | Rows::Carrier | Rows::Function | Rows::Kind => {
                bail!("{}: calls have no such rows; use --by method, class, package or thread", path.display())
            }
        })
    }
}
