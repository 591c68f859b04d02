//! `martini fleet prune`: removes what is old.

use std::io::Write;
use std::path::PathBuf;

use fleet::Store;
use trace::date::Date;

use super::add::today;
use crate::exit;
use crate::render::human::{bytes, counted};

/// Remove the traces of old days, and the names of releases of which none is left
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Folder of the store
    store: PathBuf,
    /// Remove traces that began so many days ago or earlier, such as 90d
    #[arg(long, value_name = "DAYS", value_parser = days)]
    older: u32,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let first: Date = today().earlier(arguments.older);
    let pruned = Store::open(&arguments.store)?.prune(first)?;
    let files = counted(pruned.files, "file", "files");
    writeln!(anstream::stdout(), "removed {files} from before {first}, {}", bytes(pruned.bytes))?;
    Ok(exit::OK)
}

fn days(text: &str) -> Result<u32, String> {
    let days = text.strip_suffix('d').and_then(|days| days.parse().ok());
    days.filter(|days| *days > 0).ok_or_else(|| "it is a number of days, such as 90d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_days() {
        assert_eq!((days("90d"), days("1d")), (Ok(90), Ok(1)));
        for text in ["", "d", "90", "0d", "-1d", "90h", "1.5d"] {
            assert!(days(text).is_err(), "{text}");
        }
    }
}
