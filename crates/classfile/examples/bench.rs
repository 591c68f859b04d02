//! Rewrites every class of a pack at all its sites, single thread, over and over, and prints one line per round.
//!
//! `bench PACK [ROUNDS]`; the pack is made by `PackClasses.java`. Run beside ASM by `bci-tests/asm-bench/run`.

#[path = "../tests/support/pack.rs"]
mod pack;
#[path = "../tests/support/sites.rs"]
mod sites;

use std::hint::black_box;
use std::time::Instant;

fn main() {
    let mut args = std::env::args().skip(1);
    let file = args.next().expect("usage: bench PACK [ROUNDS]");
    let rounds: u32 = args.next().map_or(5, |n| n.parse().expect("a number of rounds"));
    let bytes = std::fs::read(&file).expect("the pack is readable");
    let classes: Vec<&[u8]> = pack::classes(&bytes).collect();
    for _ in 0..rounds {
        let mut sites = sites::AllSites::default();
        let (mut inserted, mut changed, mut refused) = (0, 0, 0);
        let start = Instant::now();
        for class in &classes {
            let done = classfile::rewrite(class, &mut sites).expect("a class of a JDK is well-formed");
            inserted += u64::from(done.inserted_sites);
            changed += u64::from(done.bytes.is_some());
            refused += done.refused.len();
            black_box(done.bytes);
        }
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "rust {seconds:.6} s, {:.0} classes/s, {:.0} MB/s ({} classes, {changed} changed, {inserted} sites, {refused} refused)",
            classes.len() as f64 / seconds,
            bytes.len() as f64 / 1e6 / seconds,
            classes.len(),
        );
    }
}
