//! The files of a recording.

use std::fs;
use std::path::PathBuf;

use agent_options::{Format, Options, if_taken};
use trace::file::{self, LOCK_LOG, TRACE};

use super::refusal::Refusal;
use agent_trace::Output;

/// The files of a recording, open.
pub(super) struct Outputs {
    pub(super) trace: Output,
    pub(super) log: Option<Output>,
}

impl Outputs {
    /// Opens them, or none.
    pub(super) fn open(options: &Options) -> Result<Outputs, Refusal> {
        let of_log = |refusal: file::Refusal| Refusal::of_file(&refusal, "locklog");
        let log = options.locks.as_ref().and_then(|locks| locks.log.as_deref());
        // So that there is no trace if there can be no log.
        log.map_or(Ok(()), |path| file::check(path, LOCK_LOG, if_taken(path))).map_err(of_log)?;
        let trace = Output::open(&options.file, options.format, TRACE, options.file_if_taken)
            .map_err(|refusal| Refusal::of_file(&refusal, "file"))?;
        let log = log.map(|path| Output::open(path, Format::Xml, LOCK_LOG, if_taken(path)));
        Ok(Outputs { trace, log: log.transpose().map_err(of_log)? })
    }

    /// Where those are that are regular files.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let paths = [Some(&self.trace), self.log.as_ref()].into_iter().flatten().map(|output| output.path.clone());
        paths.filter(|path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())).collect()
    }
}
