//! Files beside the trace, by which the agent is asked something or says something.

use std::path::{Path, PathBuf};

/// A file beside another one: its path, a dot and an ending.
pub fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(".");
    path.push(ending);
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_name_stays() {
        assert_eq!(beside(Path::new("/x/app.trcxml"), "dump"), Path::new("/x/app.trcxml.dump"));
    }
}
