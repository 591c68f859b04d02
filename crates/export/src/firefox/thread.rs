//! A thread, with its samples, markers and allocations.

use serde_json::{Value, json};
use trace::time::{Nanos, Time};

use super::tables::{Tables, WAITS};
use super::{JVM, millis};
use crate::frame::thread_name;
use crate::recorder::constants::Constants;
use crate::recorder::{Allocation, Recording, WaitEvent};

/// What a thread has.
#[derive(Debug, Default)]
pub(super) struct Rows<'a> {
    pub(super) start: Option<Time>,
    pub(super) end: Option<Time>,
    pub(super) samples: Vec<(Time, Nanos, u64)>,
    pub(super) waits: Vec<&'a WaitEvent>,
    pub(super) collections: Vec<(Time, Time, Option<u64>)>,
    pub(super) allocations: Vec<&'a Allocation>,
}

impl Rows<'_> {
    /// Readers expect times that grow.
    pub(super) fn sort(&mut self) {
        self.samples.sort_by_key(|sample| sample.0);
        self.waits.sort_by_key(|wait| wait.since);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.weight() == (0, 0, 0) && self.collections.is_empty()
    }

    /// What makes it worth to be shown first.
    pub(super) fn weight(&self) -> (u64, u64, usize) {
        let sum = |numbers: &mut dyn Iterator<Item = u64>| numbers.fold(0, u64::saturating_add);
        (
            sum(&mut self.samples.iter().map(|sample| sample.1.0)),
            sum(&mut self.allocations.iter().map(|allocation| allocation.bytes)),
            self.waits.len(),
        )
    }
}

/// What the fields of markers are.
pub(super) fn schemas() -> Value {
    let text = |key: &str, label: &str| json!({ "key": key, "label": label, "format": "string", "searchable": true });
    json!([
        {
            "name": "Wait",
            "display": ["marker-chart", "marker-table", "timeline-overview"],
            "tableLabel": "{marker.name} {marker.data.class} {marker.data.lock}",
            "chartLabel": "{marker.name} {marker.data.class} {marker.data.lock}",
            "fields": [text("class", "Class"), text("lock", "Lock"), text("owner", "Owner")],
        },
        {
            "name": "Collection",
            "display": ["marker-chart", "marker-table", "timeline-memory"],
            "fields": [{ "key": "used", "label": "Heap used after it", "format": "bytes" }],
        },
    ])
}

/// The thread of a number.
pub(super) fn json<'a>(
    recording: &'a Recording,
    constants: &Constants<'a>,
    number: u64,
    rows: &Rows<'a>,
    process: &str,
) -> Value {
    let mut tables = Tables::default();
    let since_begin = |time: Time| millis(time.since(recording.begin));
    let samples: Vec<Option<usize>> =
        rows.samples.iter().map(|&(_, _, stack)| tables.stack(constants, stack, None)).collect();
    let mut thread = json!({
        "name": constants.thread(number).map_or("JVM", |thread| thread_name(Some(&thread.name))),
        "isMainThread": number == JVM,
        "processType": "default",
        "processName": process,
        "processStartupTime": 0.0,
        "processShutdownTime": null,
        "registerTime": rows.start.map_or(0.0, since_begin),
        "unregisterTime": rows.end.map(since_begin),
        "pausedRanges": [],
        "pid": recording.pid.unwrap_or_default().to_string(),
        "tid": number,
        "samples": {
            "length": samples.len(),
            "stack": samples,
            "time": rows.samples.iter().map(|sample| since_begin(sample.0)).collect::<Vec<f64>>(),
            "weight": rows.samples.iter().map(|sample| millis(sample.1)).collect::<Vec<f64>>(),
            "weightType": "tracing-ms",
            "threadCPUDelta": rows.samples.iter().map(|sample| sample.1.0).collect::<Vec<u64>>(),
        },
        "markers": markers(recording, constants, rows, &mut tables),
    });
    if !rows.allocations.is_empty() {
        let stacks: Vec<Option<usize>> = (rows.allocations.iter())
            .map(|allocation| tables.stack(constants, allocation.stack, constants.class(allocation.class)))
            .collect();
        thread["nativeAllocations"] = json!({
            "length": stacks.len(),
            "time": vec![since_begin(recording.end); stacks.len()],
            "stack": stacks,
            "weight": rows.allocations.iter().map(|allocation| allocation.bytes).collect::<Vec<u64>>(),
            "weightType": "bytes",
        });
    }
    tables.json().into_iter().for_each(|(name, table)| thread[name] = table);
    thread
}

/// A marker: its name, since when, until when, its category, and what else it says.
type Marker = (usize, f64, f64, u64, Value);

fn markers<'a>(recording: &'a Recording, constants: &Constants<'a>, rows: &Rows<'a>, tables: &mut Tables<'a>) -> Value {
    let since_begin = |time: Time| millis(time.since(recording.begin));
    let mut all: Vec<Marker> = Vec::new();
    for wait in &rows.waits {
        let mut data = json!({ "type": "Wait" });
        if let Some(stack) = tables.stack(constants, wait.stack, None) {
            data["cause"] = json!({ "tid": wait.thread, "time": since_begin(wait.since), "stack": stack });
        }
        let owner = constants.thread(wait.owner).map(|owner| thread_name(Some(&owner.name)));
        let texts =
            [("class", constants.class(wait.class)), ("lock", recording.lock_name(wait.lock)), ("owner", owner)];
        for (key, text) in texts {
            if let Some(text) = text {
                data[key] = text.into();
            }
        }
        let until = Time(wait.since.0.saturating_add(wait.length.0));
        all.push((tables.text(wait.kind.name()), since_begin(wait.since), since_begin(until), WAITS, data));
    }
    for &(since, until, used) in &rows.collections {
        let mut data = json!({ "type": "Collection" });
        if let Some(used) = used {
            data["used"] = used.into();
        }
        all.push((tables.text("Collection"), since_begin(since), since_begin(until), 0, data));
    }
    /// From a begin to an end.
    const INTERVAL: u64 = 1;
    let column = |of: fn(&Marker) -> Value| all.iter().map(of).collect::<Vec<Value>>();
    json!({
        "length": all.len(),
        "name": column(|marker| marker.0.into()),
        "startTime": column(|marker| marker.1.into()),
        "endTime": column(|marker| marker.2.into()),
        "phase": column(|_| INTERVAL.into()),
        "category": column(|marker| marker.3.into()),
        "data": column(|marker| marker.4.clone()),
    })
}
