//! How long a heap dump takes to read, and its dominators to find.

use std::path::Path;
use std::time::Instant;

use analysis::heap_dump::{Dominators, load};
use hprof::read::DumpFile;

fn main() {
    let path = std::env::args().nth(1).expect("a dump file");
    let begin = Instant::now();
    let file = DumpFile::open(Path::new(&path)).expect("it opens");
    let mut last = "";
    let loaded = load::load(&file, &mut |what, _| {
        if what != last {
            last = what;
            println!("{:6.2} s {what}", begin.elapsed().as_secs_f64());
        }
    })
    .expect("it is a dump");
    let graph = &loaded.graph;
    println!("{:6.2} s {} objects, {} references", begin.elapsed().as_secs_f64(), graph.len(), graph.reference_count());
    let dominators = Dominators::of(graph).expect("not too many");
    println!("{:6.2} s dominators", begin.elapsed().as_secs_f64());
    println!("{} {:?} {:?}", loaded.layout, loaded.layout.fit, graph.problems());
    let retained: u64 = dominators.tops().map(|top| dominators.retained(top)).sum();
    println!("{} reachable, {retained} bytes", dominators.reachable().len());
    let mut rows = std::collections::HashMap::<&str, (u64, u64)>::new();
    for object in graph.objects() {
        let row = rows.entry(graph.class_name(object)).or_default();
        row.0 += 1;
        row.1 += graph.shallow(object);
    }
    for (class, (count, bytes)) in rows {
        println!("H {count} {bytes} {class}");
    }
}
