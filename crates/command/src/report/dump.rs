//! A heap dump in a report.

use serde_json::Value;

use super::names::shown;

/// The same with texts as they are shown: those of a dump are the program's own, of any length.
pub(super) fn shortened(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(shown(&text)),
        Value::Array(values) => values.into_iter().map(shortened).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, shortened(value))).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_texts_are_cut_wherever_they_stand() {
        let cut = shortened(json!({ "suspects": [{ "text": "x".repeat(10_000), "bytes": 7 }], "path": null }));
        assert!(cut["suspects"][0]["text"].as_str().is_some_and(|text| text.len() < 1000 && text.contains("10,000")));
        assert_eq!((&cut["suspects"][0]["bytes"], &cut["path"]), (&json!(7), &Value::Null));
    }
}
