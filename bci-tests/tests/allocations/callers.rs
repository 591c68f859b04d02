//! The sampler beside the counters of `heap=counts`: how it divides what a method of the JDK allocates among those who call it.

use bci_tests::counted::{Counted, Sampled};
use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::shares::{self, Share};
use bci_tests::suite::Suite;

/// Rounds of each of three threads.
const ROUNDS: u64 = 10_000;
/// What a round allocates on average for each copy: half of them have 200 bytes, and half 2,000, behind a header of 16.
const COPY: u64 = (216 + 2016) / 2;
/// JDK 11 comes too early to its samples, for which the agent can allow only roughly.
const BIAS: f64 = 0.05;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and(&[("compiled", &[][..]), ("interpreted", &["-Xint"])], are_divided_as_they_call);
    suite.each_jdk(have_shares_within_their_error);
    suite.each_jdk(have_what_was_allocated_where_the_jit_removes_much);
    suite.each_jdk(are_found_behind_hundreds_of_frames);
    suite.each_jdk_and(&[("redefined", "Redefine"), ("unloaded", "Unload")], may_be_of_classes_that_go);
    suite.each_jdk(another_agent_may_have_the_sampler);
}

fn profiled(jdk: &Jdk) -> Profiled<'_> {
    let profiled = Profiled::on(jdk).heap(Heap::Counts).option("callers", "16k");
    profiled.main("callers.Main").args(&[&ROUNDS.to_string()])
}

fn are_divided_as_they_call(jdk: &Jdk, flags: &[&str]) {
    let trace = profiled(jdk).flags(flags).run_and_read::<Counted>().trace;
    let copies = |method: &str| {
        let of_method = trace.by_stack.iter().filter(|((site, stack), _)| {
            site.method == "java.util.Arrays.copyOf" && stack[1..].iter().any(|frame| frame.starts_with(method))
        });
        of_method.fold(Sampled::default(), |sum, (_, sampled)| Sampled {
            samples: sum.samples + sampled.samples,
            bytes: sum.bytes + sampled.bytes,
            variance: sum.variance + sampled.variance,
        })
    };
    for (method, times) in [("one", 1), ("two", 2), ("five", 5)] {
        let found = copies(&format!("callers.Main.{method}:"));
        let made = times * 3 * ROUNDS * COPY;
        let mut most = 6.0 * (found.variance as f64).sqrt();
        if jdk.feature < 17 {
            most += made as f64 * BIAS;
        }
        assert!((found.bytes.abs_diff(made) as f64) < most, "{method}: {found:?}, and {made} bytes were made");
        assert!(found.samples > 50, "{method}: {found:?}");
    }
    assert_eq!(trace.count("callers.merged"), 0);
}

/// The numbers of three sites are exact, and what each of 40 methods has of them is within three times the stated error. (How often it is
/// within it: `bench -- callers`.)
fn have_shares_within_their_error(jdk: &Jdk) {
    let shares = shares::run(jdk, 4_000);
    assert_eq!(shares.len(), 3 * (3 + 9 + 9));
    for share in shares {
        assert!(share.off() < 3.0, "{share:?}");
    }
}

/// Of three sites the JIT removes some, half and most of what it compiles: that is a row, and callers have what they allocated. A tenth
/// may be within the error, and then has no row.
fn have_what_was_allocated_where_the_jit_removes_much(jdk: &Jdk) {
    let shares = shares::removed(jdk, 10_000_000);
    let removed = |class: &str| {
        let of_class = |share: &&Share| share.name.starts_with("(removed by the JIT") && share.name.ends_with(class);
        shares.iter().find(of_class).map_or(0.0, |share| share.found)
    };
    assert!(removed("OptionalLong") > 0.3 && removed("OptionalDouble") > 0.6, "{shares:?}");
    for share in &shares {
        assert!(share.off() < 3.0, "{share:?}");
    }
}

/// A stack reaches the outermost method within 512 frames; of a longer one the innermost frames are there, and it is counted.
fn are_found_behind_hundreds_of_frames(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).heap(Heap::Counts).option("callers", "4k").main("callers.Deep").args(&["5000"]);
    let trace = profiled.run_and_read::<Counted>().trace;
    let samples = |is_it: &dyn Fn(&[String]) -> bool| {
        let found = trace.by_stack.iter().filter(|((_, stack), _)| is_it(stack));
        found.map(|(_, sampled)| sampled.samples).sum::<u64>()
    };
    let named = |stack: &[String], method: &str| stack.iter().any(|frame| frame.starts_with(method));
    let whole = samples(&|stack| named(stack, "callers.Deep.three:") && named(stack, "callers.Deep.main:"));
    let cut = samples(&|stack| stack.len() == 512 && !named(stack, "callers.Deep.main:"));
    assert!(whole > 2 && cut > 2, "{whole} whole, {cut} cut");
    assert_eq!(trace.count("callers.cut"), cut);
}

/// Before JDK 11.0.23, 17.0.11 and 21.0.3 a profiler crashes the VM if it asks for a method that has been freed since it was seen on
/// a stack, as those of redefined classes are (JDK-8313816). The agent asks only while the stack is there.
fn may_be_of_classes_that_go(jdk: &Jdk, program: &str) {
    let profiled = Profiled::on(jdk).heap(Heap::Counts).option("callers", "1k").flags(&["-Xmx64m"]);
    let profiled = if program == "Redefine" { profiled.agent_in_java("torture.Redefine") } else { profiled };
    let ran = profiled.main("torture.Main").args(&[program, "100"]).run_and_read::<Counted>();
    let samples: u64 = ran.trace.by_stack.values().map(|sampled| sampled.samples).sum();
    assert!(samples > 500, "{samples}");
}

/// Only one agent can have the VM sample. The other counts all the same, and says so.
fn another_agent_may_have_the_sampler(jdk: &Jdk) {
    let profiled = profiled(jdk);
    let other = profiled.dir().join("libother.so");
    std::fs::copy(&bci_tests::martini::built().agent, &other).expect("the folder is ours");
    let first =
        format!("-agentpath:{}=heap=vm,file={}", other.display(), profiled.dir().join("other.trcxml").display());
    let ran = profiled.flags(&[&first]).run_and_read::<Counted>();
    assert!(ran.err().contains("martini: cannot sample callers: "), "{}", ran.err());
    let copies = ran.trace.sites.iter().filter(|(site, _)| site.method == "java.util.Arrays.copyOf");
    assert!(copies.map(|(_, sum)| sum.instances).sum::<u64>() >= 8 * 3 * ROUNDS);
    assert!(ran.trace.estimates.is_empty());
}
