//! Help, version, manual pages and completions.

use crate::support::run;

#[test]
fn the_help_says_how_a_command_ends() {
    let ended = run(&["--help"]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    assert!(ended.out.contains("\n  safepoints ") && ended.out.contains("Exit status:\n  0 "), "{}", ended.out);
}

#[test]
fn the_help_of_run_names_request_files_and_the_environment() {
    let ended = run(&["run", "--help"]);
    for words in
        ["touch TRACE.live", "touch TRACE.dump", "kill -QUIT", "MARTINI_AGENT", "MARTINI_OFF=1", "MARTINI_SAFE=1"]
    {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    let include = ended.out.split("--include").nth(1).expect("the option is there");
    let include = include.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(include.contains("the class of the object, not the code that allocates it"), "{include}");
}

#[test]
fn the_version_is_that_of_the_package() {
    assert_eq!(run(&["--version"]).out, format!("martini {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn manual_pages_are_of_martini_or_of_a_command() {
    for (arguments, title) in [(&["man"][..], ".TH martini 1"), (&["man", "run"], ".TH martini-run 1")] {
        let page = run(arguments);
        assert!(page.status == 0 && page.out.contains(title), "{}", page.out);
    }
}

#[test]
fn completions_know_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = run(&["completions", shell]);
        assert_eq!((ended.status, ended.err.as_str()), (0, ""));
        for word in ["validate", "allocsites", "require-exact", "threads"] {
            assert!(ended.out.contains(word), "{shell} {word}");
        }
    }
}

#[test]
fn completions_know_the_values_of_options() {
    let bash = run(&["completions", "bash"]).out;
    let offered = |option: &str| {
        let case = format!("\n                --{option})\n");
        bash.split(&case).skip(1).map(|case| case.lines().next().unwrap().trim().to_owned()).collect::<Vec<_>>()
    };
    for (option, values) in [
        ("heap", "events counts vm off"),
        ("format", "xml zip"),
        ("dump", "end oom request oom+end gc:20"),
        ("owners", "on off jvmti"),
        ("locks", "on off"),
        ("live", "true false"),
    ] {
        // Other commands have flags of the same names.
        let cases = offered(option);
        assert!(
            cases.contains(&format!("COMPREPLY=($(compgen -W \"{values}\" -- \"${{cur}}\"))")),
            "{option}: {cases:?}"
        );
    }
    let refused = run(&["run", "--heap", "evnts", "java"]);
    assert!(
        refused.err.contains("option 'heap' does not take 'evnts': it takes events|counts|vm|off"),
        "{}",
        refused.err
    );
}
