//! Commands that read several files: each file's text is printed at once; as JSON all files go into one document. A file that cannot
//! be shown does not keep the others from being shown.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use crate::exit;
use crate::render::page::{Page, Width};

/// The form of all documents, `schemas/martini-json.schema.json`. The number rises when a program that reads them has to change.
const SCHEMA: &str = "martini/1";

/// The document of a command that reads several files.
pub(crate) struct Files {
    /// The command's name.
    pub(crate) command: &'static str,
    /// The name of the list with a document for each file.
    pub(crate) list: &'static str,
}

/// Calls `show` for each file, with a page of some width, and gives back the exit status. With `json`, what `show` gives back is
/// printed in that list; a file for which it fails has its error there. Colours are removed if standard output is not a terminal.
///
/// # Errors
/// The output cannot be written. What `show` writes goes into memory, so that its errors are about the file.
pub(crate) fn each(
    paths: &[PathBuf],
    json: Option<Files>,
    width: Width,
    mut show: impl FnMut(&Path, &mut Page<'_>) -> anyhow::Result<Value>,
) -> anyhow::Result<u8> {
    let mut out = anstream::stdout().lock();
    let mut documents = Vec::new();
    let mut status = exit::OK;
    for path in paths {
        let mut text = Vec::new();
        match show(path, &mut Page::new(&mut text, width)) {
            Ok(document) => {
                documents.push(document);
                out.write_all(&text)?;
                out.flush()?;
            }
            Err(error) => {
                exit::report(&error);
                documents.push(json!({ "path": path.display().to_string(), "error": exit::sentence(&error) }));
                status = exit::FAILED;
            }
        }
    }
    if let Some(Files { command, list }) = json {
        print_json(command, &json!({ list: documents }), &mut out)?;
        out.flush()?;
    }
    Ok(status)
}

/// A document: what it is, and the fields of its command.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    martini: &'static str,
    command: &'a str,
    #[serde(flatten)]
    fields: &'a Value,
}

/// Prints the document of a command.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn print_json(command: &str, fields: &Value, out: &mut impl Write) -> anyhow::Result<()> {
    let document = Document { schema: SCHEMA, martini: env!("CARGO_PKG_VERSION"), command, fields };
    serde_json::to_writer_pretty(&mut *out, &document).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}
