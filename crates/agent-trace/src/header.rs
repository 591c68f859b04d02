//! The header of a trace: machine, process, agent, filters, options.

use std::borrow::Cow;
use std::fs;
use std::io::Read;
use std::ptr::null_mut;

use jvmti::Env;
use trace::command_line::CommandLine;
use trace::model::{AgentCreate, Node, ProcessCreate, Record, TraceOption, TraceStart};
use trace::time::Time;

use agent_options::Options;

use super::labels;

use agent_base::clock::{Ticks, local};

/// Ids that the end of the trace refers to again.
pub(super) struct Header {
    pub(crate) agent_id: String,
}

/// Writes the header of a trace that begins now; `emit` takes one element at a time.
///
/// `java` is the feature release of the JVM.
pub(super) fn write(
    options: &Options,
    jvm: Env,
    java: u32,
    time: Time,
    mut emit: impl FnMut(&dyn Fn(&mut Vec<u8>)),
) -> Header {
    let node_id = boot_id();
    let process_id = uuid();
    let agent_id = uuid();
    let command = fs::read("/proc/self/cmdline").ok().map(|words| CommandLine::of_process(&words).to_string());
    // Before VMStart the JVM does not say more than the release.
    let version =
        jvm.get_system_property(c"java.vm.version").map(|version| String::from_utf8_lossy(&version).into_owned());
    let version = version.unwrap_or_else(|_| java.to_string());
    emit(&|out| {
        Node {
            node_id: Cow::Borrowed(&node_id),
            hostname: Cow::Owned(hostname()),
            ip_address: Cow::Owned(addresses().join(",")),
            timezone: minutes_west(time),
            time,
        }
        .write(out)
    });
    emit(&|out| {
        ProcessCreate {
            process_id: Cow::Borrowed(&process_id),
            pid: std::process::id().into(),
            node_id: Cow::Borrowed(&node_id),
            time,
            name: command.as_deref().map(Cow::Borrowed),
            java_version: Some(Cow::Borrowed(&version)),
        }
        .write(out)
    });
    emit(&|out| {
        AgentCreate {
            agent_id: Cow::Borrowed(&agent_id),
            version: Cow::Borrowed("2.000"),
            process_id: Cow::Borrowed(&process_id),
            // The name by which TPTP's views know the profiler.
            agent_name: Cow::Borrowed("org.eclipse.tptp.jvmti"),
            agent_type: Cow::Borrowed("Profiler"),
            agent_parameters: Cow::Borrowed(&options.given),
            time,
            imported_from: None,
        }
        .write(out)
    });
    emit(&|out| TraceStart { trace_id: Cow::Owned(uuid()), agent_id: Cow::Borrowed(&agent_id), time }.write(out));
    for filter in options.filters.records() {
        emit(&|out| filter.write(out));
    }
    for (key, value) in [
        ("FILTERS", "true"),
        ("OPTIONS", "true"),
        ("TIMESTAMPS", "true"),
        ("TRACE_IDREFS", "false"),
        ("COLLATION_VALUES", "false"),
        ("UNREFERENCED_SYMBOLS", "false"),
        ("ID_STYLE", "static"),
        ("OBJ_ALLOC_IS_ARRAY", "true"),
        ("TRACK_GC_EVENT_TYPES", if options.lifetimes { "frees" } else { "none" }),
        ("MONITOR_MODE", if options.locks.is_some() { "all" } else { "none" }),
    ] {
        emit(&|out| TraceOption { key: Cow::Borrowed(key), value: Cow::Borrowed(value) }.write(out));
    }
    for (key, value) in labels::of_process(&options.labels) {
        emit(&|out| TraceOption { key: Cow::Borrowed(key), value: Cow::Borrowed(&value) }.write(out));
    }
    Header { agent_id }
}

/// An id that stays the same until the machine boots again.
fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map_or_else(|_| uuid(), |id| id.trim().to_owned())
}

/// A random UUID (RFC 9562, version 4).
fn uuid() -> String {
    let mut bytes = [0u8; 16];
    if fs::File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut bytes)).is_err() {
        let now = Ticks::now().0 ^ u64::from(std::process::id()).rotate_left(48);
        bytes[..8].copy_from_slice(&now.to_be_bytes());
    }
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

fn hostname() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").map_or_else(|_| "unknown".into(), |name| name.trim().to_owned())
}

/// The machine's IPv4 addresses, the loopback one last.
fn addresses() -> Vec<String> {
    let mut list = null_mut();
    // SAFETY: getifaddrs writes the head of a list that freeifaddrs takes back below.
    if unsafe { libc::getifaddrs(&mut list) } != 0 {
        return vec!["127.0.0.1".into()];
    }
    let mut found = Vec::new();
    let mut next = list;
    while !next.is_null() {
        // SAFETY: a node of the list, whose address is null or of the family it names.
        let (address, following) = unsafe {
            let node = &*next;
            let is_v4 = !node.ifa_addr.is_null() && i32::from((*node.ifa_addr).sa_family) == libc::AF_INET;
            let address = is_v4.then(|| (*node.ifa_addr.cast::<libc::sockaddr_in>()).sin_addr.s_addr);
            (address, node.ifa_next)
        };
        found.extend(address.map(|a| std::net::Ipv4Addr::from(u32::from_be(a))));
        next = following;
    }
    // SAFETY: the list of getifaddrs, which nothing refers to any more.
    unsafe { libc::freeifaddrs(list) };
    found.sort_by_key(|a| a.is_loopback());
    found.iter().map(ToString::to_string).collect()
}

/// Offset of the local time zone from UTC in minutes, positive west.
fn minutes_west(time: Time) -> i64 {
    -local(time).tm_gmtoff / 60
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_form_of_uuids() {
        for id in [uuid(), boot_id()] {
            let lengths: Vec<_> = id.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
        }
        assert_ne!(uuid(), uuid());
    }

    #[test]
    fn the_machine_has_a_name_and_an_address() {
        assert!(!hostname().is_empty());
        assert!(addresses().iter().all(|a| a.parse::<std::net::Ipv4Addr>().is_ok()));
        assert!((-14 * 60..=14 * 60).contains(&minutes_west(Time(1_767_606_400_000_000_000))));
    }
}
