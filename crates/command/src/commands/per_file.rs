//! Commands that read several files: each file's text is printed at once; as JSON all files go into one document. A file that cannot
//! be shown does not keep the others from being shown.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::exit;
use crate::render::page::{Page, Width};

/// Calls `show` for each file, with a page of some width, and gives back the exit status. With a name for the list, what `show` gives
/// back is printed as JSON under that name; a file for which it fails has its error there. Colours are removed if standard output is
/// not a terminal.
///
/// # Errors
/// The output cannot be written. What `show` writes goes into memory, so that its errors are about the file.
pub(crate) fn each(
    paths: &[PathBuf],
    list: Option<&str>,
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
    if let Some(list) = list {
        print_json(&json!({ list: documents }), &mut out)?;
        out.flush()?;
    }
    Ok(status)
}

/// Prints a document.
pub(crate) fn print_json(value: &Value, out: &mut impl Write) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}
