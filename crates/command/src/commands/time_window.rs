//! The flags that say which time of a trace counts.

use std::path::Path;

use agent_options::MethodName;
use analysis::allocations::{AllocationReport, CountedPart};
use analysis::marks::MarkedMethod;
use anyhow::bail;
use trace::time::Nanos;

use crate::input::reading;

/// Which time of a trace counts, as flags say it.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct TimeFlags {
    /// Start here: SECONDS after the start of the trace, or a METHOD marked with `--mark METHOD`
    #[arg(long, value_name = "SECONDS|METHOD", value_parser = moment, visible_alias = "begin")]
    from: Option<Moment>,
    /// End here: SECONDS or a METHOD, as with --from
    #[arg(long, value_name = "SECONDS|METHOD", value_parser = moment, visible_alias = "end")]
    to: Option<Moment>,
}

/// A time of a trace, as a flag says it.
#[derive(Clone, Debug)]
enum Moment {
    /// After the beginning.
    After(Nanos),
    /// When this method was entered.
    Mark(MethodName),
}

impl TimeFlags {
    /// Whether a part of the time was asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }

    /// The times of a trace.
    ///
    /// # Errors
    /// The trace cannot be read, or has no mark of a method.
    pub(crate) fn of(&self, path: &Path) -> anyhow::Result<TimeWindow> {
        let mut marks = None;
        let mut time = |moment: &Option<Moment>| match moment {
            None => Ok(None),
            Some(Moment::After(nanos)) => Ok(Some(*nanos)),
            Some(Moment::Mark(method)) => {
                let marks = match &mut marks {
                    Some(marks) => marks,
                    none => none.insert(read_marks(path)?),
                };
                find(path, marks, method).map(Some)
            }
        };
        Ok(TimeWindow { from: time(&self.from)?, to: time(&self.to)? })
    }
}

fn read_marks(path: &Path) -> anyhow::Result<Vec<MarkedMethod>> {
    if path.as_os_str() == "-" || !path.is_file() {
        bail!("{}: a METHOD as time needs a regular file, which is read twice; save the trace first", path.display());
    }
    Ok(reading::marks(path)?.report.marks().to_vec())
}

fn find(path: &Path, marks: &[MarkedMethod], method: &MethodName) -> anyhow::Result<Nanos> {
    let wanted = method.to_string();
    if let Some(mark) = marks.iter().find(|mark| mark.method == wanted) {
        return Ok(mark.at);
    }
    let path = path.display();
    if marks.is_empty() {
        bail!("{path}: no method is marked; record with martini run --mark {wanted}");
    }
    let there: Vec<_> = marks.iter().map(|mark| mark.method.as_str()).collect();
    bail!("{path}: no mark of {wanted}; marked: {}", there.join(", "))
}

/// Which time of a trace counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimeWindow {
    from: Option<Nanos>,
    to: Option<Nanos>,
}

impl TimeWindow {
    /// Where counting begins.
    pub(crate) fn from(self) -> Nanos {
        self.from.unwrap_or_default()
    }

    /// Where it ends; `None` if at the end of the trace.
    pub(crate) fn to(self) -> Option<Nanos> {
        self.to
    }

    /// Whether only a part of the trace counts.
    pub(crate) fn is_given(self) -> bool {
        self.from.is_some() || self.to.is_some()
    }

    /// Checks the flags against a trace of some length, if that is known.
    ///
    /// # Errors
    /// `--from` is behind the end of the trace, or not before `--to`.
    pub(crate) fn check(self, path: &Path, length: Option<Nanos>) -> anyhow::Result<()> {
        let seconds = |nanos: Nanos| nanos.0 as f64 / 1e9;
        if let Some(to) = self.to.filter(|to| *to <= self.from()) {
            bail!("--from {} is not earlier than --to {}; swap them", seconds(self.from()), seconds(to));
        }
        if let (Some(from), Some(length)) = (self.from, length)
            && from > length
        {
            bail!(
                "{}: --from {} is past the end of the trace, which is {:.3} s long; give a smaller number",
                path.display(),
                seconds(from),
                seconds(length)
            );
        }
        Ok(())
    }

    /// Checks the flags against a trace of objects, and that counts were written in the part that counts.
    ///
    /// # Errors
    /// They were not, or as of [`check`](Self::check).
    pub(crate) fn check_objects(self, path: &Path, report: &AllocationReport) -> anyhow::Result<()> {
        self.check(path, Some(report.length()))?;
        let seconds = |nanos: Nanos| nanos.0 as f64 / 1e9;
        match report.counted_part() {
            Some(CountedPart::Nothing(Some(near))) => bail!(
                "{}: --from and --to are too close: counts were written at {:.3} and {:.3} s; choose these or a longer \
                 range",
                path.display(),
                seconds(near.from),
                seconds(near.to)
            ),
            _ => Ok(()),
        }
    }
}

fn moment(text: &str) -> Result<Moment, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(Moment::After(Nanos((seconds * 1e9) as u64))),
        Ok(_) => Err(NO_MOMENT.to_owned()),
        Err(_) => MethodName::parse(text).map(Moment::Mark).ok_or_else(|| NO_MOMENT.to_owned()),
    }
}

const NO_MOMENT: &str = "give seconds, such as 12.5, or a marked method, such as com.acme.Server.ready";
