//! What the JVMs of some traces have cost together.

use std::path::PathBuf;

use analysis::allocations::Naming;
use analysis::budgets::Costs;
use analysis::ledger::{Ledger, Unit};
use anyhow::bail;

use crate::input::whole;
use crate::render::notes;

/// Reads traces; a budget cannot be judged by one that is not complete.
pub(super) fn read(traces: &[PathBuf], with_threads: bool) -> anyhow::Result<Costs> {
    let mut all = Costs::default();
    for path in traces {
        let run = whole::whole(path)?;
        if !notes::is_complete(&run.allocations) {
            bail!("{}: the trace is not complete, so its costs are not known", path.display());
        }
        let (allocations, cpu) = (&run.allocations.report, &run.cpu.report);
        let (names, cpu_names) = (allocations.site_names(&Naming::Innermost), cpu.site_names(&Naming::Innermost));
        let mut code = Ledger::of_allocations(allocations, &names, Unit::Line);
        code.extend(Ledger::of_living(allocations, &names));
        code.extend(Ledger::of_cpu(cpu, &cpu_names, Unit::Line));
        code.extend(Ledger::of_locks(&run.locks.report, Unit::Line));
        code.extend(Ledger::of_calls(&run.calls.report, Unit::Line));
        let mut threads = Vec::new();
        if with_threads {
            threads.extend(Ledger::of_threads(allocations));
            threads.extend(Ledger::of_cpu_of_threads(cpu, &cpu_names));
        }
        all.add(Costs { code, threads });
    }
    Ok(all)
}
