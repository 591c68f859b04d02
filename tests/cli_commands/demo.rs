//! `martini demo`: what it explains is true.

use crate::java::tool;
use crate::support::{end, martini, run};

#[test]
fn the_demo_finds_its_leak_and_its_churn() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/demo");
    let ended = end(martini().arg("demo").arg("--java").arg(tool("java")).arg("--out").arg(&out));
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    for part in [
        "closed: 3000 orders taken, 200 still in the cache\n",
        "\ngrowth: 515.6 KiB (",
        " of what survived a collection) at demo.OrderDesk.take(OrderDesk.java:34)\n",
        "3,000 of 3,000 long[] (421.9 KiB), 3,000 of 3,000 demo.PriceWatch (93.8 KiB)\n",
        "  survivors of 10 different ages: ",
        "\nchurn: ",
        " of all) at demo.Report.text(Report.java:18)\n",
        "martini run --stack 16 java -jar your-app.jar ",
    ] {
        assert!(ended.out.contains(part), "{part}: {}", ended.out);
    }
    let trace = out.join("demo.trcxml");
    assert!(ended.out.contains(&format!("The trace: {}", trace.display())), "{}", ended.out);
    let report = std::fs::read_to_string(out.join("demo.html")).unwrap();
    assert!(report.contains("demo.OrderDesk.take(OrderDesk.java:34)"));
    assert!(ended.out.contains("/demo.html (open in a browser)\n"), "{}", ended.out);
    let valid = end(martini().arg("validate").arg(&trace));
    assert_eq!(valid.status, 0, "{}", valid.out);
}

#[test]
fn a_java_that_is_none_is_refused() {
    for (java, part) in [("/no/such/java", "cannot start"), ("/bin/true", "is not a Java launcher")] {
        let ended = run(&["demo", "--java", java]);
        assert_eq!((ended.status, ended.out.as_str()), (2, ""));
        assert!(ended.err.starts_with(&format!("martini: cannot use --java {java}: ")), "{}", ended.err);
        assert!(ended.err.contains(part), "{}", ended.err);
    }
}
