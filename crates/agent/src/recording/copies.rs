//! Copies of the agent, from several files, in one JVM. Each would define the same classes and bind them to itself.

use std::collections::BTreeSet;
use std::fs;

/// Whether a library of the agent's name is loaded besides this one.
pub(super) fn is_another_loaded() -> bool {
    libraries(&fs::read_to_string("/proc/self/maps").unwrap_or_default()) > 1
}

/// Different files of the agent's name in a process's map: `55d-55e r-xp 00000000 08:01 4711   /path`.
fn libraries(map: &str) -> usize {
    let files = map.lines().filter_map(|line| {
        let mut fields = line.splitn(6, ' ');
        let (device, inode, path) = (fields.nth(3)?, fields.next()?, fields.next()?);
        let name = path.trim_start().trim_end_matches(" (deleted)").rsplit('/').next();
        (name == Some("libmartini.so")).then_some((device, inode))
    });
    files.collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_count_once() {
        let map = "\
7f0-7f1 r--p 00000000 08:01 12                         /opt/a b/libmartini.so
7f1-7f2 r-xp 00001000 08:01 12                         /opt/a b/libmartini.so
7f2-7f3 r-xp 00001000 08:01 13                         /opt/libjvm.so
7f3-7f4 rw-p 00000000 00:00 0 
";
        assert_eq!(libraries(map), 1);
        let other = "7f5-7f6 r-xp 00000000 08:01 14                         /home/m/libmartini.so (deleted)\n";
        assert_eq!(libraries(&format!("{map}{other}")), 2);
        assert_eq!(libraries(""), 0);
    }
}
