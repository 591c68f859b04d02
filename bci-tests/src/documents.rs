//! Whether what `martini --json` prints is what its schema says.
//!
//! The schema uses a part of JSON Schema that is quickly checked; a library for all of it would take longer to build than the command. A keyword
//! that is not known here is an error, so nothing in the schema goes unchecked.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

use crate::martini::workspace;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let text = fs::read_to_string(workspace().join("schemas/martini-json.schema.json")).expect("the schema is there");
    serde_json::from_str(&text).expect("it is JSON")
});

/// Panics unless what the command printed obeys the schema, if it is `martini` and was asked for JSON. A document may be followed by what
/// other flags print.
#[track_caller]
pub fn check(command: &Command, out: &[u8]) {
    let is_martini = Path::new(command.get_program()).file_name() == Some(OsStr::new("martini"));
    if !is_martini || !out.starts_with(b"{") || !command.get_args().any(|word| word == "--json") {
        return;
    }
    let document = serde_json::Deserializer::from_slice(out).into_iter::<Value>().next();
    let document = document.expect("something was printed").unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let name = document["command"].as_str().unwrap_or_default();
    assert_eq!(command.get_args().next(), Some(OsStr::new(name)), "{command:?}: another command is named");
    let schema = SCHEMA["$defs"].get(name).unwrap_or_else(|| panic!("the schema has no command {name}"));
    if let Err(error) = properties(&SCHEMA, schema, &document) {
        panic!("{command:?} does not obey schemas/martini-json.schema.json: {error}");
    }
}

/// The properties of a value that a schema speaks of (JSON Schema, draft 2020-12: those that are evaluated).
///
/// # Errors
/// Where and how the value does not obey the schema.
fn properties<'v>(root: &Value, schema: &Value, value: &'v Value) -> Result<HashSet<&'v str>, String> {
    let mut known: HashSet<&str> = HashSet::new();
    let Some(keywords) = schema.as_object() else {
        return if schema == &Value::Bool(true) { Ok(known) } else { Err("is not in the schema".into()) };
    };
    let members: Vec<(&str, &Value)> =
        value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value)).collect();
    let inside = |name: &str, schema: &Value, value: &Value| {
        properties(root, schema, value).map(drop).map_err(|error| format!("{name}: {error}"))
    };
    let list = |of: &Value| of.as_array().cloned().unwrap_or_else(|| panic!("{of} is no list"));
    for (keyword, says) in keywords {
        match keyword.as_str() {
            // Those of members come below, in their order.
            "$schema"
            | "$defs"
            | "title"
            | "description"
            | "properties"
            | "additionalProperties"
            | "unevaluatedProperties" => {}
            "$ref" => {
                let place = says.as_str().and_then(|place| root.pointer(place.strip_prefix('#')?));
                known.extend(properties(root, place.unwrap_or_else(|| panic!("there is no {says}")), value)?);
            }
            "type" => {
                let is_one =
                    says.as_str().map_or_else(|| list(says).iter().any(|one| is_a(one, value)), |_| is_a(says, value));
                check_that(is_one, || format!("{} is no {says}", short(value)))?;
            }
            "const" => check_that(value == says, || format!("{} is not {says}", short(value)))?,
            "enum" => check_that(list(says).contains(value), || format!("{} is none of {says}", short(value)))?,
            "required" => {
                let missing =
                    list(says).into_iter().find(|name| name.as_str().is_none_or(|name| value.get(name).is_none()));
                check_that(missing.is_none() || !value.is_object(), || {
                    format!("{} is missing", missing.unwrap_or_default())
                })?;
            }
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                items.into_iter().try_for_each(|(at, item)| inside(&at.to_string(), says, item))?;
            }
            "allOf" => {
                for one in list(says) {
                    known.extend(properties(root, &one, value)?);
                }
            }
            "anyOf" | "oneOf" => {
                let (mut obeyed, mut errors) = (0, Vec::new());
                for one in list(says) {
                    match properties(root, &one, value) {
                        Ok(its) => {
                            known.extend(its);
                            obeyed += 1;
                        }
                        Err(error) => errors.push(error),
                    }
                }
                check_that(obeyed > 0, || format!("either {}", errors.join(", or ")))?;
                check_that(obeyed == 1 || keyword == "anyOf", || format!("{obeyed} of {keyword} are true"))?;
            }
            unknown => panic!("the schema has {unknown}, which its tests do not know"),
        }
    }
    let named = keywords.get("properties");
    for &(name, member) in &members {
        if let Some(schema) = named.and_then(|named| named.get(name)) {
            inside(name, schema, member)?;
            known.insert(name);
        } else if let Some(schema) = keywords.get("additionalProperties") {
            inside(name, schema, member)?;
            known.insert(name);
        }
    }
    if let Some(schema) = keywords.get("unevaluatedProperties") {
        for &(name, member) in &members {
            if known.insert(name) {
                inside(name, schema, member)?;
            }
        }
    }
    Ok(known)
}

fn check_that(holds: bool, error: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(error()) }
}

fn is_a(kind: &Value, value: &Value) -> bool {
    match kind.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => panic!("there is no type {kind}"),
    }
}

/// A value as a message has it.
fn short(value: &Value) -> String {
    value.to_string().chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(schema: &Value, value: Value) -> String {
        properties(schema, schema, &value).map_or_else(|error| error, |_| String::new())
    }

    #[test]
    fn values_obey_or_it_is_said_where_they_do_not() {
        let schema = json!({
            "$defs": { "size": { "type": "integer" }, "named": { "properties": { "name": { "type": ["string", "null"] } } } },
            "type": "object",
            "properties": {
                "sizes": { "items": { "$ref": "#/$defs/size" } },
                "kind": { "enum": ["a", "b"] },
                "one": { "oneOf": [{ "const": 1 }, { "type": "integer" }] },
                "open": { "type": "object", "additionalProperties": { "type": "number" } },
                "closed": { "properties": { "x": true }, "additionalProperties": false }
            },
            "allOf": [{ "$ref": "#/$defs/named" }],
            "anyOf": [{ "required": ["sizes"] }, { "properties": { "more": true }, "required": ["more"] }],
            "unevaluatedProperties": false
        });
        for good in [
            json!({ "sizes": [1, 2], "name": null, "kind": "a", "one": 2, "open": { "y": 1.5 }, "closed": { "x": {} } }),
            json!({ "more": 1, "name": "n" }),
        ] {
            assert_eq!(said(&schema, good), "");
        }
        for (bad, why) in [
            (json!([]), "[] is no \"object\""),
            (json!({ "sizes": [1, "2"] }), "sizes: 1: \"2\" is no \"integer\""),
            (json!({ "sizes": [], "name": 1 }), "name: 1 is no [\"string\",\"null\"]"),
            (json!({ "sizes": [], "kind": "c" }), "kind: \"c\" is none of [\"a\",\"b\"]"),
            (json!({ "sizes": [], "one": 1 }), "one: 2 of oneOf are true"),
            (json!({ "sizes": [], "one": "x" }), "one: either \"x\" is not 1, or \"x\" is no \"integer\""),
            (json!({ "sizes": [], "open": { "y": "z" } }), "open: y: \"z\" is no \"number\""),
            (json!({ "sizes": [], "closed": { "y": 1 } }), "closed: y: is not in the schema"),
            (json!({ "sizes": [], "more": 1, "other": 1 }), "other: is not in the schema"),
            (json!({}), "either \"sizes\" is missing, or \"more\" is missing"),
        ] {
            assert_eq!(said(&schema, bad), why);
        }
    }

    #[test]
    #[should_panic(expected = "the schema has minimum")]
    fn what_is_not_checked_is_no_schema() {
        said(&json!({ "minimum": 1 }), json!(1));
    }
}
