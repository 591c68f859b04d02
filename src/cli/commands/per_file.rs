//! What commands that read several files do alike: each file for itself, as text at once, or all of them in one document of JSON.

use std::io::{StdoutLock, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::exit;

/// Standard output without colours where nobody sees them.
pub(crate) type Out = anstream::AutoStream<StdoutLock<'static>>;

/// Tells of each file, and prints what is given back as a list of that name, unless all has been said.
pub(crate) fn each(
    paths: &[PathBuf],
    list: Option<&str>,
    mut tell: impl FnMut(&Path, &mut Out) -> anyhow::Result<Value>,
) -> anyhow::Result<u8> {
    let mut out = anstream::stdout().lock();
    let mut documents = Vec::new();
    for path in paths {
        documents.push(tell(path, &mut out)?);
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
