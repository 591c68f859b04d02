//! The options of the agent in a piece of code.

/// Names in front of `=` in code that are other people's: options of async-profiler and JFR, or a JVM's own.
const FOREIGN: &[&str] = &["alloc", "cstack", "interval", "settings"];

/// The names of the options that a span such as `heap=counts,live=true`, or an `-agentpath` argument, gives the agent.
pub(crate) fn named(code: &str) -> Vec<&str> {
    let mut names = Vec::new();
    if let Some((_, rest)) = code.split_once("libmartini.so=") {
        names.extend(pairs(rest.split_whitespace().next().unwrap_or("")));
    } else if !code.contains(char::is_whitespace) && !code.contains("=\"") {
        let start = code.split('=').next().unwrap_or("");
        if code.contains('=') && !start.is_empty() && start.chars().all(|c| c.is_ascii_lowercase()) {
            names.extend(pairs(code));
        }
    }
    names.retain(|name| !FOREIGN.contains(name));
    names
}

/// A comma that is doubled belongs to a value.
fn pairs(options: &str) -> impl Iterator<Item = &str> {
    let options = options.strip_prefix("JPIAgent:").unwrap_or(options);
    options
        .split([',', ';'])
        .filter_map(|pair| Some(pair.split_once('=')?.0))
        .map(|name| name.rsplit(':').next().unwrap())
}

#[test]
fn options_are_found() {
    assert_eq!(named("heap=counts,live=true"), ["heap", "live"]);
    assert_eq!(named("-agentpath:/x/libmartini.so=file=a,stack=2 -jar a=b"), ["file", "stack"]);
    assert_eq!(
        named("-agentpath:...libmartini.so=JPIAgent:server=standalone,file=x;HeapProf:allocsites=true").len(),
        3
    );
    assert!(named("source=\"vm\"").is_empty());
    assert!(named("a = b").is_empty());
    assert!(named("settings=profile").is_empty());
    assert!(named("MARTINI_FULL=1").is_empty());
}
