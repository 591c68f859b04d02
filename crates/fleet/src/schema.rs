//! The tables of a store and their columns.
//!
//! All columns may be null, which means "not recorded" or "does not apply". Rows are sorted by their columns in the order in which they
//! stand here.

/// The version of this schema. A store of a later one is not written to.
pub const VERSION: i64 = 1;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Signed integers of 64 bits.
    Int,
    /// Floating point numbers of 64 bits.
    Double,
    /// UTF-8.
    Text,
    /// Microseconds since 1970, UTC.
    Time,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// By what the files of a table are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// By day and service: `dt=2026-11-29/service=shop`.
    Day,
    /// By service and release: `service=shop/release=1.4`. These are names, which all runs of a release share.
    Release,
}

/// A table.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// By what its files are kept apart.
    pub partition: Partition,
    /// Its columns.
    pub columns: &'static [Column],
}

impl Table {
    /// The place of a column.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

macro_rules! tables {
    ($($(#[$doc:meta])* $constant:ident = $name:literal by $partition:ident { $($column:ident: $kind:ident,)* })*) => {
        $($(#[$doc])*
        pub static $constant: Table = Table {
            name: $name,
            partition: Partition::$partition,
            columns: &[$(Column { name: stringify!($column), kind: Kind::$kind },)*],
        };)*

        /// All tables.
        pub static TABLES: &[&Table] = &[$(&$constant,)*];
    };
}

tables! {
    /// One row per trace: a recording of a JVM.
    RUN = "run" by Day {
        run_id: Int,
        batch: Int,
        run_check: Int,
        recording_id: Int,
        release: Text,
        host: Text,
        pod: Text,
        pid: Int,
        version: Text,
        jdk: Text,
        options: Text,
        command: Text,
        imported_from: Text,
        start_at: Time,
        end_at: Time,
        length_nanos: Int,
        engine: Text,
        is_whole: Int,
        trace_bytes: Int,
        elements: Int,
        schema: Int,
    }
    /// How complete the numbers of a run are.
    COVERAGE = "coverage" by Day {
        run_id: Int,
        batch: Int,
        engine: Text,
        reason: Text,
        seen: Int,
        accounted: Int,
        n: Int,
    }
    /// The names of classes.
    CLASS = "class" by Release {
        class_id: Int,
        class_check: Int,
        name: Text,
    }
    /// Lines of code, and what else is on stacks.
    FRAME = "frame" by Release {
        frame_id: Int,
        frame_check: Int,
        class: Text,
        method: Text,
        descriptor: Text,
        source: Text,
        line: Int,
        is_own: Int,
    }
    /// One row per frame of a call stack.
    STACK = "stack" by Release {
        stack_id: Int,
        stack_check: Int,
        depth: Int,
        frame_id: Int,
    }
    /// What was allocated.
    ALLOC = "alloc" by Day {
        run_id: Int,
        batch: Int,
        class_id: Int,
        line_id: Int,
        stack_id: Int,
        thread_group: Text,
        kind: Text,
        minute: Time,
        objects: Int,
        bytes: Int,
        is_exact: Int,
        is_line_exact: Int,
        samples: Int,
        weight: Double,
        error: Double,
    }
    /// What lived at the end.
    LIVE = "live" by Day {
        run_id: Int,
        batch: Int,
        class_id: Int,
        line_id: Int,
        objects: Int,
        bytes: Int,
        survived_bytes: Int,
        samples: Int,
        error: Double,
        average_age: Double,
        oldest_age: Int,
        ages: Int,
        is_growing: Int,
    }
    /// Collections that stopped the program.
    GC = "gc" by Day {
        run_id: Int,
        batch: Int,
        start_at: Time,
        collections: Int,
        pause_nanos: Int,
        used_bytes: Int,
    }
    /// What threads waited for.
    LOCK_WAIT = "lock_wait" by Day {
        run_id: Int,
        batch: Int,
        is_contended: Int,
        class_id: Int,
        lock_name: Text,
        waiter: Text,
        owner: Text,
        line_id: Int,
        stack_id: Int,
        owner_line_id: Int,
        owner_stack_id: Int,
        waits: Int,
        nanos: Int,
        longest_nanos: Int,
        open_waits: Int,
        error: Double,
    }
    /// What threads did on processors, or by the clock.
    CPU = "cpu" by Day {
        run_id: Int,
        batch: Int,
        clock: Text,
        line_id: Int,
        stack_id: Int,
        thread_group: Text,
        minute: Time,
        samples: Int,
        nanos: Int,
        error: Double,
    }
    /// Requests: the sums of each entry point, and single ones.
    REQUEST = "request" by Day {
        run_id: Int,
        batch: Int,
        entry: Text,
        kind: Text,
        number: Int,
        start_at: Time,
        requests: Int,
        failures: Int,
        nanos: Int,
        cpu_nanos: Int,
        bytes: Int,
        p50_nanos: Int,
        p90_nanos: Int,
        p99_nanos: Int,
        longest_nanos: Int,
        largest_part: Text,
    }
    /// Classes that came out of no archive, and static initialisers.
    CLASS_LOAD = "class_load" by Day {
        run_id: Int,
        batch: Int,
        kind: Text,
        name: Text,
        line_id: Int,
        classes: Int,
        nanos: Int,
        own_nanos: Int,
    }
    /// What the JIT compiled.
    COMPILE = "compile" by Day {
        run_id: Int,
        batch: Int,
        method: Text,
        compilations: Int,
        c2_compilations: Int,
        nanos: Int,
        discarded: Int,
        bytecode_bytes: Int,
    }
}
