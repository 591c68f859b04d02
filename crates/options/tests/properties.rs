//! What holds for any text.

use agent_options::{OPTIONS, RawOptions, format_pair, parse};
use proptest::collection::vec;
use proptest::prelude::*;

/// Text of what options are made of, so that more of it is understood than of any text.
fn likely_text() -> impl Strategy<Value = String> {
    let names = OPTIONS.iter().flat_map(|option| option.old.iter().chain([&option.name])).copied();
    let words = OPTIONS.iter().flat_map(|option| option.choices()).map(|choice| choice.word);
    let signs =
        ["=", ",", ",,", ";", ":", "+", "JPIAgent", "server=standalone", "HeapProf", "64", "k", "g", "*", "é", "-1"];
    let pieces: Vec<&'static str> = names.chain(words).chain(signs).chain(["on", "true", "x.y.Z"]).collect();
    vec(prop::sample::select(pieces), 0..24).prop_map(|pieces| pieces.concat())
}

fn pair() -> impl Strategy<Value = (&'static str, String)> {
    let names: Vec<&'static str> = OPTIONS.iter().map(|option| option.name).collect();
    (prop::sample::select(names), any::<String>())
}

proptest! {
    #[test]
    fn any_text_gives_options_or_a_sentence(text: String) {
        prop_assert!(parse(&text).map_err(|error| error.to_string()).err().is_none_or(|error| !error.is_empty()));
    }

    #[test]
    fn text_made_of_options_gives_options_or_a_sentence(text in likely_text()) {
        prop_assert!(parse(&text).map_err(|error| error.to_string()).err().is_none_or(|error| !error.is_empty()));
    }

    #[test]
    fn any_value_of_any_option_is_taken_or_refused((name, value) in pair()) {
        let _ = parse(&format_pair(name, &value));
    }

    #[test]
    fn what_is_written_is_read_back(pairs in vec(pair(), 0..6)) {
        let written: Vec<String> = pairs.iter().map(|(name, value)| format_pair(name, value)).collect();
        let raw: RawOptions = pairs.into_iter().collect();
        prop_assert_eq!(&written.join(","), &raw.to_string());
        prop_assert_eq!(raw.to_string().parse::<RawOptions>().unwrap(), raw);
    }
}
