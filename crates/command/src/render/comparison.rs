//! What differs between runs, as text, Markdown and JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use analysis::comparison::{Change, Comparison, FALSE_ALARMS, Kind, Level, Shift, Side};
use analysis::ledger::{Callers, Measure, Place};
use owo_colors::OwoColorize;
use serde_json::{Value, json};
use trace::time::Nanos;

use crate::render::human::{self, printable};
use crate::render::markdown::code;
use crate::render::page::Page;
use crate::render::table::{Below, Table};

/// So many classes and places are named in one line.
const NAMED: usize = 3;

/// What was found.
pub(crate) struct Found<'a> {
    /// The traces of both sides.
    pub(crate) before: Vec<String>,
    pub(crate) after: Vec<String>,
    /// What costs are divided by.
    pub(crate) per: Option<String>,
    /// What makes it doubtful.
    pub(crate) notes: Vec<String>,
    pub(crate) comparisons: &'a [Comparison],
    /// Whose code had the objects made, of each run of both sides.
    pub(crate) callers: [Vec<&'a Callers>; 2],
    /// Rows of a table at most.
    pub(crate) rows: usize,
    /// What places are: one, and several.
    pub(crate) unit: [&'static str; 2],
    /// Places are those of callers, not of what made the objects.
    pub(crate) is_by_callers: bool,
}

/// What a measure is called.
fn title(measure: Measure) -> &'static str {
    match measure {
        Measure::Bytes => "allocated bytes",
        Measure::Objects => "allocated objects",
        Measure::Live => "bytes of live objects, by class",
        Measure::Retained => "bytes kept alive, by class (classes overlap)",
        Measure::Cpu => "CPU time",
        Measure::Blocked => "time blocked by locks",
        Measure::Waits => "waits for locks",
        Measure::Calls => "calls of methods",
        Measure::Time => "time in methods without what they call",
    }
}

/// An amount in the unit of its measure.
pub(crate) fn amount(measure: Measure, value: f64) -> String {
    let whole = value.round().max(0.0) as u64;
    match measure {
        Measure::Bytes | Measure::Live | Measure::Retained => human::bytes(whole),
        Measure::Objects | Measure::Waits | Measure::Calls if value < 10.0 && value.fract() > 0.0 => {
            format!("{value:.2}")
        }
        Measure::Objects | Measure::Waits | Measure::Calls => human::count(whole),
        Measure::Cpu | Measure::Blocked | Measure::Time => human::duration(Nanos(whole)),
    }
}

/// A change with its sign.
fn signed(measure: Measure, value: f64) -> String {
    let sign = if value < 0.0 { '-' } else { '+' };
    format!("{sign}{}", amount(measure, value.abs()))
}

/// A change with its sign, and how far it may be off.
fn with_error(measure: Measure, value: f64, error: f64) -> String {
    match error {
        0.0 => signed(measure, value),
        error => format!("{} ± {}", signed(measure, value), amount(measure, error)),
    }
}

fn percent(level: &Level) -> String {
    let (before, difference) = (level.before.mean(), level.difference());
    match (before > 0.0, difference.abs() / before) {
        (false, _) => "new".to_owned(),
        (true, part) if difference < 0.0 => format!("-{}", human::share(part)),
        (true, part) => format!("+{}", human::share(part)),
    }
}

/// A mean, and where there are several runs their extremes.
fn side(measure: Measure, side: &Side) -> String {
    let mean = amount(measure, side.mean());
    let (least, most) = side.extremes();
    if side.values.len() < 2 {
        return mean;
    }
    match (amount(measure, least), amount(measure, most)) {
        (least, most) if least == most => mean,
        (least, most) => format!("{mean} ({least} to {most})"),
    }
}

fn chance(change: &Change) -> String {
    match change.likelihood {
        p if p < 1e-9 => "< 1e-9".to_owned(),
        p => format!("{p:.0e}"),
    }
}

/// The first of some names, and how many more there are.
fn names<T>(all: &[T], name: impl Fn(&T) -> String) -> String {
    let mut text = all.iter().take(NAMED).map(name).collect::<Vec<_>>().join(", ");
    if all.len() > NAMED {
        _ = write!(text, " and {} more", human::count((all.len() - NAMED) as u64));
    }
    text
}

fn places(all: &[Place]) -> String {
    names(all, |place| printable(&place.to_string()))
}

/// What a change is made of: the classes of objects or locks.
fn of(measure: Measure, change: &Change) -> Option<String> {
    let named: Vec<_> = change.of.iter().filter(|(class, _)| !class.is_empty()).collect();
    (!named.is_empty())
        .then(|| names(&named, |(class, value)| format!("{} {}", signed(measure, *value), printable(class))))
}

fn shifted(measure: Measure, shift: &Shift) -> String {
    format!("{} moved from {} to {}", amount(measure, shift.amount), places(&shift.from), places(&shift.to))
}

impl Found<'_> {
    fn summary(&self, comparison: &Comparison) -> String {
        let Comparison { measure, total, .. } = comparison;
        if *measure == Measure::Retained {
            return title(*measure).to_owned();
        }
        let per = self.per.as_ref().filter(|_| !measure.is_of_a_moment()).map(|per| format!(" per {per}"));
        format!(
            "{}{}: {} before, {} after, {} ({})",
            title(*measure),
            per.unwrap_or_default(),
            side(*measure, &total.before),
            side(*measure, &total.after),
            with_error(*measure, total.difference(), total.error()),
            percent(total)
        )
    }

    /// The lines of the reader's code through which most of a change of allocated bytes came, where these are other than its place.
    fn through(&self, measure: Measure, change: &Change) -> Vec<(Place, f64)> {
        let [before, after] = &self.callers;
        if measure != Measure::Bytes || self.is_by_callers {
            return Vec::new();
        }
        let mut callers = Callers::changes(&change.place, before, after);
        let is_other = |place: &Place| {
            place.class != change.place.class || !change.place.method.is_empty() && place.method != change.place.method
        };
        callers.retain(|(place, bytes)| is_other(place) && bytes.abs() >= change.amount.abs() / 20.0);
        callers
    }

    /// The same in words.
    fn through_text(&self, measure: Measure, change: &Change) -> Option<String> {
        let callers = self.through(measure, change);
        let named =
            names(&callers, |(place, bytes)| format!("~{} {}", signed(measure, *bytes), printable(&place.to_string())));
        (!callers.is_empty()).then(|| format!("through {named}"))
    }

    /// What is said where nothing has changed, or of what is no change.
    fn remark(&self, comparison: &Comparison) -> String {
        let Comparison { measure, changes, chance, rest, least, .. } = comparison;
        let [one, several] = if measure.is_of_a_moment() { ["class", "classes"] } else { self.unit };
        let looked = human::counted(chance.tested as u64, one, several);
        let least = amount(*measure, *least);
        if changes.is_empty() {
            return format!("no change: none of {looked} of at least {least} differs by that and by more than chance");
        }
        if *measure == Measure::Retained {
            return format!("all others differ by chance, or by less than {least} each");
        }
        format!("all others differ by {} together: by chance, or by less than {least} each", signed(*measure, *rest))
    }

    /// Writes it as text.
    pub(crate) fn write(&self, out: &mut Page<'_>) -> io::Result<()> {
        for (name, traces) in [("before", &self.before), ("after", &self.after)] {
            out.write_sentence(0, &format!("{name}: {}", names(traces, |path| printable(path))))?;
        }
        for comparison in self.comparisons {
            let measure = comparison.measure;
            writeln!(out)?;
            let summary = out.sentence(0, &self.summary(comparison));
            writeln!(out, "{}", summary.bold())?;
            let changes = &comparison.changes;
            let shown = &changes[..changes.len().min(self.rows)];
            if !shown.is_empty() {
                let mut table = Table::new(vec!["change", "before", "after", "", "chance", self.unit[0]]);
                for change in shown {
                    let below = [of(measure, change), self.through_text(measure, change)];
                    let below = below.into_iter().flatten().map(|name| Below { label: String::new(), name });
                    table.push_above(
                        vec![
                            with_error(measure, change.amount, change.level.error()),
                            amount(measure, change.level.before.mean()),
                            amount(measure, change.level.after.mean()),
                            match change.kind {
                                Kind::Gone => "gone".to_owned(),
                                _ => percent(&change.level),
                            },
                            chance(change),
                            printable(&change.place.to_string()),
                        ],
                        below.collect(),
                    );
                }
                table.write(out)?;
                crate::render::table::write_left_out(changes.len() - shown.len(), out)?;
            }
            for shift in comparison.shifts.iter().take(self.rows) {
                out.write_sentence(2, &shifted(measure, shift))?;
            }
            out.write_sentence(2, &self.remark(comparison))?;
        }
        if !self.notes.is_empty() {
            writeln!(out)?;
        }
        for note in &self.notes {
            out.write_sentence(0, &format!("Note: {note}"))?;
        }
        Ok(())
    }

    /// It as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::from("### Martini: what differs between the runs\n\n");
        let mut line = |line: String| {
            text.push_str(&line);
            text.push('\n');
        };
        line(format!(
            "Before: {}; after: {}.",
            names(&self.before, |path| code(path)),
            names(&self.after, |path| code(path))
        ));
        line(String::new());
        line(format!(
            "How to read it: a place is {}. `change` is after less before, without what only moved elsewhere; a change \
             is listed if it is more than chance ({:.0} false alarm in 100 comparisons) and at least the stated size.",
            if self.is_by_callers {
                "the innermost frame of your own code"
            } else {
                "the code that makes the objects, runs or waits"
            },
            FALSE_ALARMS * 100.0
        ));
        for comparison in self.comparisons {
            let measure = comparison.measure;
            line(String::new());
            line(format!("**{}**", self.summary(comparison)));
            line(String::new());
            let changes = &comparison.changes;
            let shown = &changes[..changes.len().min(self.rows)];
            if !shown.is_empty() {
                line(format!("| change | before | after | | chance | {} | of |", self.unit[0]));
                line("|---:|---:|---:|---:|---:|---|---|".to_owned());
            }
            for change in shown {
                let kind = if change.kind == Kind::Gone { "gone".to_owned() } else { percent(&change.level) };
                line(format!(
                    "| {} | {} | {} | {kind} | {} | {} | {} |",
                    with_error(measure, change.amount, change.level.error()),
                    amount(measure, change.level.before.mean()),
                    amount(measure, change.level.after.mean()),
                    chance(change),
                    code(&change.place.to_string()),
                    [of(measure, change), self.through_text(measure, change)]
                        .into_iter()
                        .flatten()
                        .map(|text| code(&text))
                        .collect::<Vec<_>>()
                        .join("<br>"),
                ));
            }
            if !shown.is_empty() {
                line(String::new());
            }
            if changes.len() > shown.len() {
                line(format!("{} smaller changes are left out; `--top 0` shows all.", changes.len() - shown.len()));
                line(String::new());
            }
            for shift in comparison.shifts.iter().take(self.rows) {
                let (from, to) = (
                    names(&shift.from, |place| code(&place.to_string())),
                    names(&shift.to, |place| code(&place.to_string())),
                );
                line(format!("- {} moved from {from} to {to}", amount(measure, shift.amount)));
            }
            if !comparison.shifts.is_empty() {
                line(String::new());
            }
            let remark = self.remark(comparison);
            line(format!("{}{}.", remark[..1].to_uppercase(), &remark[1..]));
        }
        for note in &self.notes {
            line(String::new());
            line(format!("> Note: {}", note.replace('\n', " ")));
        }
        text
    }

    /// It in sentences, for a report.
    pub(crate) fn for_report(&self) -> Value {
        let sentence = |measure: Measure, change: &Change| {
            let parts = [of(measure, change), self.through_text(measure, change)];
            let parts: String = parts.into_iter().flatten().map(|part| format!("; {part}")).collect();
            let (before, after) = (change.level.before.mean(), change.level.after.mean());
            format!(
                "{} ({}, from {} to {}) {}{parts}",
                with_error(measure, change.amount, change.level.error()),
                if change.kind == Kind::Gone { "gone".to_owned() } else { percent(&change.level) },
                amount(measure, before),
                amount(measure, after),
                printable(&change.place.to_string()),
            )
        };
        let measure = |comparison: &Comparison| {
            let of = comparison.measure;
            let changes = comparison.changes.iter().take(self.rows).map(|change| sentence(of, change));
            let shifts = comparison.shifts.iter().take(self.rows).map(|shift| shifted(of, shift));
            json!({
                "summary": self.summary(comparison),
                "changes": changes.chain(shifts).collect::<Vec<_>>(),
                "remark": self.remark(comparison),
            })
        };
        json!({ "measures": self.comparisons.iter().map(measure).collect::<Vec<_>>(), "notes": self.notes })
    }

    /// It for programs.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "before": self.before,
            "after": self.after,
            "per": self.per,
            "comparisons": self.comparisons.iter().map(|comparison| self.comparison_json(comparison)).collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }

    fn comparison_json(&self, comparison: &Comparison) -> Value {
        let place = |place: &Place| json!({ "class": place.class, "method": place.method, "source": place.source, "line": place.line });
        let values = |side: &Side| side.values.iter().map(|amount| amount.value).collect::<Vec<_>>();
        let level = |level: &Level| {
            json!({
                "before": values(&level.before), "after": values(&level.after),
                "difference": level.difference(), "error": level.error(),
            })
        };
        let of = |of: &[(Box<str>, f64)]| {
            of.iter().map(|(class, change)| json!({ "class": class, "change": change })).collect::<Vec<_>>()
        };
        let rows = comparison.changes.iter().take(self.rows).map(|change| {
            json!({
                "place": place(&change.place), "kind": change.kind.word(), "change": change.amount,
                "level": level(&change.level), "likelihood": change.likelihood, "of": of(&change.of),
                "through": self.through(comparison.measure, change).iter().map(|(at, bytes)| {
                    json!({ "place": place(at), "change": bytes })
                }).collect::<Vec<_>>(),
            })
        });
        let shifts = comparison.shifts.iter().take(self.rows).map(|shift| {
            json!({
                "from": shift.from.iter().map(place).collect::<Vec<_>>(),
                "to": shift.to.iter().map(place).collect::<Vec<_>>(),
                "of": shift.of, "amount": shift.amount,
            })
        });
        json!({
            "measure": comparison.measure.word(),
            "total": level(&comparison.total),
            "changes": rows.collect::<Vec<_>>(),
            "shifts": shifts.collect::<Vec<_>>(),
            "rest": comparison.rest,
            "least": comparison.least,
            "chance": {
                "false_alarms": FALSE_ALARMS, "tested": comparison.chance.tested, "runs": comparison.chance.runs,
                "spread": comparison.chance.spread,
            },
        })
    }
}
