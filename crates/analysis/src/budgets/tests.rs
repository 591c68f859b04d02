use super::*;

fn item(class: &str, method: &str, line: u32) -> Place {
    Place { class: class.into(), method: method.into(), source: "A.java".into(), line: Some(line) }
}

fn costs(amounts: &[(&str, &str, u32, &str, f64)]) -> Costs {
    let mut bytes = Ledger::new(Measure::Bytes);
    for &(class, method, line, of, value) in amounts {
        bytes.add(item(class, method, line), of, Amount { value, variance: 0.0 });
    }
    let mut threads = Ledger::new(Measure::Bytes);
    threads.add(Place::named("main"), "", Amount { value: 700.0, variance: 0.0 });
    Costs { code: vec![bytes], threads: vec![threads] }
}

fn run() -> Costs {
    costs(&[
        ("shop.Till", "total", 10, "byte[]", 100.0),
        ("shop.Till", "total", 11, "shop.Item", 50.0),
        ("shop.Till", "<clinit>", 3, "byte[]", 1000.0),
        ("java.util.HashMap", "resize", 7, "java.util.HashMap$Node[]", 400.0),
        ("java.lang.ClassLoader", "defineClass", 9, "byte[]", 2000.0),
    ])
}

fn cost(rule: &str) -> u64 {
    let budget: Budget = format!("{rule} <= 0").parse().expect(rule);
    let verdicts = budget.judge(&run(), &Baseline::new()).expect("it was recorded");
    verdicts.iter().map(|verdict| verdict.cost).sum()
}

#[test]
fn what_counts_is_what_the_rule_names() {
    assert_eq!(cost("bytes"), 3550);
    assert_eq!(cost("bytes at shop.*"), 1150);
    assert_eq!(cost("bytes at shop.Till.total"), 150);
    assert_eq!(cost("bytes of byte[] at shop.*"), 1100);
    assert_eq!(cost("bytes without start"), 550);
    assert_eq!(cost("bytes start only"), 3000);
    assert_eq!(cost("bytes at shop.* without start"), 150);
    assert_eq!(cost("bytes thread main"), 700);
    assert_eq!(cost("bytes at nothing.*"), 0);
}

#[test]
fn a_line_that_starts_to_allocate_breaks_its_budget() {
    let budget: Budget = "bytes at shop.* each line <= baseline".parse().expect("a rule");
    let mut baseline = Baseline::new();
    baseline.insert(budget.name.clone(), budget.to_baseline(&run()).expect("it was recorded"));
    assert!(budget.judge(&run(), &baseline).expect("it was recorded").iter().all(Verdict::is_kept));
    let mut more = run();
    more.add(costs(&[("shop.Till", "total", 12, "int[]", 16.0), ("java.util.HashMap", "resize", 7, "int[]", 99.0)]));
    let verdicts = budget.judge(&more, &baseline).expect("it was recorded");
    let broken: Vec<_> = verdicts.iter().filter(|verdict| !verdict.is_kept()).collect();
    assert_eq!(broken.len(), 1);
    assert_eq!(verdicts[0].place.as_deref(), Some("shop.Till.total(A.java:12)"));
    assert_eq!((verdicts[0].cost, verdicts[0].limit), (16, Some(0)));
    // Without a baseline none can be judged.
    assert_eq!(budget.judge(&run(), &Baseline::new()).expect("it was recorded")[0].limit, None);
    let whole: Budget = "bytes at shop.* <= baseline + 2 %".parse().expect("a rule");
    assert_eq!(whole.judge(&run(), &Baseline::new()).expect("it was recorded")[0].limit, None);
    let known = [("total".to_owned(), 1130)].into_iter().collect();
    baseline.insert(whole.name.clone(), known);
    let verdicts = whole.judge(&run(), &baseline).expect("it was recorded");
    assert_eq!((verdicts[0].limit, verdicts[0].is_kept()), (Some(1152), true));
}

#[test]
fn what_is_estimated_breaks_a_budget_only_beyond_its_error() {
    let verdict = |cost, error| Verdict { place: None, cost, error, limit: Some(100) };
    assert!(verdict(100, 0).is_kept() && verdict(120, 20).is_kept());
    assert!(!verdict(101, 0).is_kept() && !verdict(121, 20).is_kept());
}

#[test]
fn limits_have_units() {
    for (text, measure, most) in [
        ("20 MiB", Measure::Bytes, 20 << 20),
        ("1.5KiB", Measure::Live, 1536),
        ("1,000", Measure::Objects, 1000),
        ("150 ms", Measure::Cpu, 150_000_000),
        ("0", Measure::Bytes, 0),
    ] {
        assert_eq!(Limit::parse(text, measure), Ok(Limit::AtMost(most)), "{text}");
    }
    assert_eq!(Limit::parse("baseline", Measure::Cpu), Ok(Limit::Baseline { part: 0.0, more: 0 }));
    assert_eq!(Limit::parse(" baseline + 2 %", Measure::Cpu), Ok(Limit::Baseline { part: 0.02, more: 0 }));
    assert_eq!(Limit::parse("baseline+1 KiB", Measure::Bytes), Ok(Limit::Baseline { part: 0.0, more: 1024 }));
    for (text, measure, wrong) in [
        ("20", Measure::Cpu, "has no unit"),
        ("20 MB", Measure::Cpu, "no unit of cpu"),
        ("20 MB", Measure::Waits, "no number"),
        ("many", Measure::Objects, "no number"),
        ("", Measure::Bytes, "no number"),
        ("9e99 B", Measure::Bytes, "no unit"),
        ("baseline - 1 %", Measure::Bytes, "baseline + 2 %"),
        ("baseline + x %", Measure::Bytes, "no percentage"),
    ] {
        let error = Limit::parse(text, measure).expect_err(text);
        assert!(error.contains(wrong), "{text}: {error}");
    }
}

#[test]
fn rules_that_cannot_hold_are_refused() {
    for (rule, wrong) in [
        ("bytes", "write MEASURE"),
        ("octets <= 1", "no measure"),
        ("bytes each method", "write MEASURE"),
        ("bytes each file <= 1", "each 'file'"),
        ("bytes by method <= 1", "'by' is not known"),
        ("cpu of byte[] <= 1 s", "of no class"),
        ("live at shop.* <= 1", "by class only"),
        ("bytes thread main at shop.* <= 1", "of a thread"),
        ("blocked thread main <= 1 s", "of a thread"),
        ("bytes without <= 1", "write MEASURE"),
    ] {
        let error = rule.parse::<Budget>().expect_err(rule).to_string();
        assert!(error.contains(wrong), "{rule}: {error}");
    }
    let named: Budget = "bytes of byte[] at a.* each method without start <= 1".parse().expect("a rule");
    assert_eq!(named.name, "bytes of byte[] at a.* each method without start");
}
