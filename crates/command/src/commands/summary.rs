//! What `run` and `attach` print of a trace at its end.

use std::io::Write;
use std::path::Path;

use agent_options::HeapMode;
use owo_colors::OwoColorize;

use crate::commands::explain::Explained;
use crate::input::{trace_end, whole};
use crate::render::page::Page;
use crate::render::{coverage, head, human};

/// Traces beyond this take longer to read than a summary is worth.
const LARGEST_SUMMARY: u64 = 512 << 20;

/// Writes what stands out in a trace behind an empty line. `heap`: how allocations were recorded.
///
/// # Errors
/// The trace cannot be read, or nothing can be written.
///
/// `is_whole`: what stands out is shown with all that is known of it, as `explain` does.
pub(crate) fn summarize(
    path: &Path,
    top: Option<usize>,
    heap: HeapMode,
    is_whole: bool,
    err: &mut Page<'_>,
) -> anyhow::Result<()> {
    writeln!(err)?;
    let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    if size <= LARGEST_SUMMARY {
        let whole = whole::whole(path)?;
        let explained = Explained::new(path, &whole, Vec::new());
        if is_whole {
            head::write(path, &whole.allocations, err)?;
            return explained.write(err);
        }
        return explained.write_short(top, err);
    }
    writeln!(err, "{} {} ({}: too large for a summary here)", "martini:".bold(), path.display(), human::bytes(size))?;
    if heap != HeapMode::Off {
        coverage::write(&trace_end::coverage(path)?, err)?;
    }
    writeln!(err, "More: martini explain {}", human::shell_word(path))?;
    Ok(())
}
