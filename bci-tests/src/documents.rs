//! Whether what `martini --json` prints is what its schema says.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

use crate::martini::workspace;

/// The compiled schema, and the place of each command in it.
struct Schema {
    schemas: Schemas,
    commands: Vec<(String, SchemaIndex)>,
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let text = fs::read_to_string(workspace().join("schemas/martini-json.schema.json")).expect("the schema is there");
    let schema: Value = serde_json::from_str(&text).expect("it is JSON");
    let branches: Vec<Value> = schema["oneOf"].as_array().expect("a list of commands").clone();
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("martini.json", schema).expect("it has a name");
    let compiled = |branch: &Value| {
        let place = branch["$ref"].as_str().expect("a reference");
        let index = compiler.compile(&format!("martini.json{place}"), &mut schemas).expect("it is a schema");
        (place.trim_start_matches("#/$defs/").to_owned(), index)
    };
    let commands = branches.iter().map(compiled).collect();
    Schema { schemas, commands }
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
    let index = SCHEMA.commands.iter().find(|(known, _)| known == name);
    let (_, index) = index.unwrap_or_else(|| panic!("the schema has no command {name}"));
    if let Err(error) = SCHEMA.schemas.validate(&document, *index) {
        panic!("{command:?} does not obey schemas/martini-json.schema.json: {error:#}");
    }
}
