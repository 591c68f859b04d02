//! Commands that read several files: each file's text is printed at once; as JSON all files go into one document.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::exit;
use crate::cli::render::page::{Page, Width};

/// Calls `show` for each file, with a page of some width; colours are removed if standard output is not a terminal. With a name for the list, what `show` gives back is printed as JSON under that name.
pub(crate) fn each(
    paths: &[PathBuf],
    list: Option<&str>,
    width: Width,
    mut show: impl FnMut(&Path, &mut Page<'_>) -> anyhow::Result<Value>,
) -> anyhow::Result<u8> {
    let mut out = anstream::stdout().lock();
    let mut documents = Vec::new();
    for path in paths {
        documents.push(show(path, &mut Page::new(&mut out, width))?);
        out.flush()?;
    }
    if let Some(list) = list {
        print_json(&json!({ list: documents }), &mut out)?;
        out.flush()?;
    }
    Ok(exit::OK)
}

/// Prints a document.
pub(crate) fn print_json(value: &Value, out: &mut impl Write) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}
