//! How much memory the machine has.

/// The memory of the machine in bytes, rounded down to a whole MiB so that it is short to write; the largest number if the system does
/// not say.
pub(crate) fn of_the_machine() -> u64 {
    std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text)).unwrap_or(u64::MAX)
}

fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib >> 10 << 20)
}

#[test]
fn the_total_is_in_whole_mib() {
    assert_eq!(total("MemTotal:        8046 kB\nMemFree:          100 kB\n"), Some(7 << 20));
    assert_eq!(total("MemFree:          100 kB\n"), None);
    assert!(of_the_machine() > 1 << 20);
}
