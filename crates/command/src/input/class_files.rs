//! Class files wherever they are: alone, in folders, in jars and wars, and in jars inside these.

use std::fs::{self, File};
use std::io::{Cursor, Read, Seek};
use std::path::Path;

use anyhow::Context;
use zip::ZipArchive;

/// A class file cannot be larger by much: its constants and each method have 64 KiB at most. A hostile archive may say anything.
const LARGEST_CLASS: u64 = 64 << 20;
/// A jar inside another one is read into memory.
const LARGEST_JAR: u64 = 1 << 30;
/// Jars are looked for in jars, and in these: a web application inside an enterprise application.
const DEEPEST: u32 = 3;

/// Gets each file: where it is, and its bytes, or why it cannot be read.
pub(crate) type Take<'t> = dyn FnMut(&str, Result<Vec<u8>, String>) + 't;

/// Hands on each class file of a file or folder.
///
/// # Errors
/// The file or folder itself cannot be read, or is none of what is looked for.
pub(crate) fn each(path: &Path, take: &mut Take<'_>) -> anyhow::Result<()> {
    let named = || format!("cannot read {}", path.display());
    if path.is_dir() {
        return folder(path, take);
    }
    let name = path.display().to_string();
    if is_class(&name) {
        take(&name, Ok(fs::read(path).with_context(named)?));
        return Ok(());
    }
    archive(&name, File::open(path).with_context(named)?, DEEPEST, take)
        .with_context(|| format!("{} is no class file, jar or folder", path.display()))
}

fn folder(path: &Path, take: &mut Take<'_>) -> anyhow::Result<()> {
    let mut open = vec![path.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
        entries.sort_unstable_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, name) = (entry.path(), entry.path().display().to_string());
            // A link to a folder may lead back.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path);
            } else if is_class(&name) {
                take(&name, fs::read(&path).map_err(|error| error.to_string()));
            } else if is_archive(&name) {
                let opened = File::open(&path).map_err(anyhow::Error::from);
                if let Err(error) = opened.and_then(|file| archive(&name, file, DEEPEST, take)) {
                    take(&name, Err(error.to_string()));
                }
            }
        }
    }
    Ok(())
}

fn archive(name: &str, file: impl Read + Seek, depth: u32, take: &mut Take<'_>) -> anyhow::Result<()> {
    let mut archive = ZipArchive::new(file)?;
    for index in 0..archive.len() {
        let mut entry = match archive.by_index(index) {
            Ok(entry) => entry,
            Err(error) => {
                take(&format!("{name}, entry {index}"), Err(error.to_string()));
                continue;
            }
        };
        let inner = format!("{name}!/{}", String::from_utf8_lossy(entry.name_raw()));
        if is_class(&inner) {
            take(&inner, read(&mut entry, LARGEST_CLASS));
        } else if is_archive(&inner) && depth > 0 {
            let found = read(&mut entry, LARGEST_JAR).and_then(|bytes| {
                self::archive(&inner, Cursor::new(bytes), depth - 1, take).map_err(|error| error.to_string())
            });
            if let Err(why) = found {
                take(&inner, Err(why));
            }
        }
    }
    Ok(())
}

fn read(entry: &mut impl Read, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    entry.take(most + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > most { Err("it is too large".to_owned()) } else { Ok(bytes) }
}

fn ends_with(name: &str, ends: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    ends.iter().any(|end| name.ends_with(end))
}

fn is_class(name: &str) -> bool {
    ends_with(name, &[".class"])
}

fn is_archive(name: &str) -> bool {
    ends_with(name, &[".jar", ".war", ".ear", ".jmod", ".zip"])
}

/// For which release and newer a file of a multi-release jar is (`META-INF/versions/N`).
pub(crate) fn release_of(name: &str) -> Option<u16> {
    let (_, rest) = name.rsplit_once("META-INF/versions/")?;
    rest.split('/').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::SimpleFileOptions;

    use super::*;

    fn jar(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in entries {
            zip.start_file(*name, SimpleFileOptions::default()).expect("memory");
            zip.write_all(bytes).expect("memory");
        }
        zip.finish().expect("memory").into_inner()
    }

    fn found(path: &Path) -> Vec<(String, Result<Vec<u8>, String>)> {
        let mut found = Vec::new();
        let base = format!("{}/", path.display());
        each(path, &mut |name, bytes| found.push((name.replace(&base, ""), bytes))).expect("a folder");
        found
    }

    #[test]
    fn classes_are_found_in_folders_and_in_jars_inside_jars() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = jar(&[("b/Inner.class", b"inner"), ("readme.txt", b"no class")]);
        let outer = jar(&[("a/Outer.class", b"outer"), ("lib/inner.jar", &inner), ("lib/broken.jar", b"no zip")]);
        fs::write(folder.path().join("app.jar"), outer).expect("ours");
        fs::create_dir(folder.path().join("c")).expect("ours");
        fs::write(folder.path().join("c/Alone.class"), b"alone").expect("ours");
        let found = found(folder.path());
        let names: Vec<(&str, Option<&[u8]>)> =
            found.iter().map(|(name, bytes)| (&**name, bytes.as_deref().ok())).collect();
        let expected: [(&str, Option<&[u8]>); 4] = [
            ("app.jar!/a/Outer.class", Some(b"outer")),
            ("app.jar!/lib/inner.jar!/b/Inner.class", Some(b"inner")),
            ("app.jar!/lib/broken.jar", None),
            ("c/Alone.class", Some(b"alone")),
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_jar_that_is_cut_anywhere_is_an_error_or_has_what_it_has() {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = jar(&[("a/A.class", &[7; 300]), ("b/B.class", b"b")]);
        for length in 0..whole.len() {
            fs::write(folder.path().join("cut.jar"), &whole[..length]).expect("ours");
            found(folder.path());
        }
    }

    #[test]
    fn a_file_of_a_multi_release_jar_has_its_release() {
        assert_eq!(release_of("app.jar!/META-INF/versions/11/a/B.class"), Some(11));
        assert_eq!(release_of("app.jar!/a/B.class"), None);
        assert_eq!(release_of("app.jar!/META-INF/versions/x/B.class"), None);
    }
}
