//! From the text to [`Options`].

use std::path::PathBuf;
use std::time::Duration;

use trace::filter::{FilterSet, Pattern, PatternError, Rule};
use trace::model::FilterMode;

use super::super::dump::options::{DumpContents, DumpFormat, DumpOptions, DumpWhen};
use super::text::{parse_size, split};
use super::{Format, HeapMode, OPTIONS, OptionError, Options, Owners, ThreadOptions, tptp};

const MAX_STACK_DEPTH: usize = 64;

/// Parses what follows the `=` of `-agentpath:...=`.
///
/// # Errors
/// The first thing that is not understood.
pub fn parse(given: &str) -> Result<Options, OptionError> {
    let pairs = if tptp::is_spelling_of(given) { tptp::pairs(given)? } else { split(given)? };
    let mut options = Options {
        given: given.to_owned(),
        heap: HeapMode::default(),
        file: PathBuf::from("martini-%p.trcxml"),
        format: Format::Xml,
        filters: FilterSet::default(),
        lifetimes: true,
        allocsites: false,
        live: false,
        dump: DumpOptions::default(),
        stack_depth: 0,
        every: Duration::from_secs(60),
        estimate_bytes: None,
        limit_bytes: None,
        buffer_bytes: 64 << 20,
        threads: None,
    };
    let mut threads = ThreadOptions::default();
    let mut threads_on = None;
    let mut seen: Vec<&'static str> = Vec::new();
    let mut last_pattern = None;
    let mut file_filters = FilterSet::default();
    for (key, value) in pairs {
        let spec = OPTIONS.iter().find(|o| o.name == key).ok_or_else(|| OptionError::Unknown(key.clone()))?;
        let repeatable = matches!(spec.name, "include" | "exclude");
        if seen.contains(&spec.name) && !repeatable {
            return Err(OptionError::Twice(spec.name));
        }
        seen.push(spec.name);
        let bad = || OptionError::BadValue { name: spec.name, value: value.clone(), takes: spec.value };
        let on = || match value.as_str() {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(bad()),
        };
        let boolean = || match value.as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(bad()),
        };
        match spec.name {
            "heap" => {
                let modes = [HeapMode::Events, HeapMode::Counts, HeapMode::Vm, HeapMode::Off];
                options.heap = modes.into_iter().find(|mode| mode.as_str() == value).ok_or_else(bad)?;
            }
            "file" if !value.is_empty() => options.file = PathBuf::from(&value),
            "format" => {
                options.format = match value.as_str() {
                    "xml" => Format::Xml,
                    "zip" => Format::Zip,
                    _ => return Err(bad()),
                }
            }
            "include" | "exclude" => {
                let mode = if spec.name == "include" { FilterMode::Include } else { FilterMode::Exclude };
                let pattern = value.parse().map_err(|e: PatternError| OptionError::Filter(e.to_string()))?;
                options.filters.push(Rule::for_classes(pattern, mode));
                last_pattern = Some(mode);
            }
            "filters" => {
                file_filters = FilterSet::load(value.as_ref()).map_err(|e| OptionError::Filter(e.to_string()))?;
            }
            "lifetimes" => options.lifetimes = boolean()?,
            "allocsites" => options.allocsites = boolean()?,
            "stack" => {
                options.stack_depth = value.parse().ok().filter(|&d| d <= MAX_STACK_DEPTH).ok_or_else(bad)?;
            }
            "threads" => threads_on = Some(on()?),
            "juc" => threads.juc = on()?,
            "owners" if value == "jvmti" => threads.owners = Owners::ByJvmti,
            "owners" => threads.owners = if on()? { Owners::WithStacks } else { Owners::WithoutStacks },
            "lockstack" => {
                threads.stack_depth = value.parse().ok().filter(|&d| d <= MAX_STACK_DEPTH).ok_or_else(bad)?;
            }
            "locklog" if !value.is_empty() => threads.log = Some(PathBuf::from(&value)),
            "live" => options.live = boolean()?,
            "estimate" => {
                let bytes = parse_size(&value).and_then(|bytes| u32::try_from(bytes).ok());
                options.estimate_bytes = Some(bytes.ok_or_else(bad)?);
            }
            "every" => {
                let seconds: u32 = value.parse().map_err(|_| bad())?;
                options.every = Duration::from_secs(seconds.into());
            }
            "dump" => options.dump.when = DumpWhen::parse(&value).ok_or_else(bad)?,
            "dumpfile" if !value.is_empty() => options.dump.file = Some(value.into()),
            "dumpformat" => {
                options.dump.format = match value.as_str() {
                    "hprof" => DumpFormat::Hprof,
                    "xml" => DumpFormat::Xml,
                    _ => return Err(bad()),
                }
            }
            "dumpcontents" => {
                options.dump.contents = match value.as_str() {
                    "full" => DumpContents::Full,
                    "zero" => DumpContents::Zero,
                    _ => return Err(bad()),
                }
            }
            "limit" => options.limit_bytes = Some(parse_size(&value).ok_or_else(bad)? as u64),
            "buffer" => options.buffer_bytes = parse_size(&value).ok_or_else(bad)?,
            _ => return Err(bad()),
        }
    }
    if threads_on.unwrap_or(threads.juc || threads.log.is_some()) {
        options.threads = Some(threads);
        if !seen.contains(&"heap") {
            options.heap = HeapMode::Off;
        }
    }
    if options.heap != HeapMode::Counts
        && let Some(&given) = seen.iter().find(|name| ["estimate", "every"].contains(name))
    {
        return Err(OptionError::OnlyCounts(given));
    }
    // Patterns that only say what to include mean "and nothing else"; a filter file says so itself.
    if last_pattern == Some(FilterMode::Include) && file_filters.rules().is_empty() {
        options.filters.push(Rule::for_classes(Pattern::any(), FilterMode::Exclude));
    }
    for rule in file_filters.rules() {
        options.filters.push(rule.clone());
    }
    Ok(options)
}
