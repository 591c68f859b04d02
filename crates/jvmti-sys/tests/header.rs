//! Layout and values against the C compiler and every `jvmti.h` of this machine (`MARTINI_JDKS`, `JAVA_HOME`, `/usr/lib/jvm`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::mem::size_of;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use jvmti_sys::*;

/// What grows with each version, so that an older header has less of it.
const GROWING: [&str; 2] = ["sizeof(jvmtiEventCallbacks)", "sizeof(jvmtiInterface_1)"];

fn headers() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    homes.extend(env::var_os("MARTINI_JDKS").iter().flat_map(env::split_paths));
    if let Ok(entries) = fs::read_dir("/usr/lib/jvm") {
        homes.extend(entries.flatten().map(|entry| entry.path()));
    }
    let headers = homes.iter().map(|home| home.join("include/jvmti.h"));
    let mut headers: Vec<PathBuf> = headers.filter_map(|header| header.canonicalize().ok()).collect();
    headers.sort();
    headers.dedup();
    headers
}

/// The numbers this crate claims, by the C expression that must give them.
fn claims() -> BTreeMap<String, i64> {
    let mut claims = BTreeMap::new();
    let mut members = |structure: &str, members: &[(&str, usize)]| {
        for (member, offset) in members.iter().filter(|(member, _)| !member.starts_with("unused")) {
            claims.insert(format!("offsetof({structure}, {member})"), *offset as i64);
        }
    };
    members("jvmtiInterface_1", SLOTS);
    members("jvmtiEventCallbacks", CALLBACKS);
    for &(name, _, its_members) in STRUCTS {
        members(name, its_members);
    }
    claims.extend(STRUCTS.iter().map(|&(name, size, _)| (format!("sizeof({name})"), size as i64)));
    claims.extend(ERRORS.iter().map(|&(error, name, _)| (name.into(), error.code().into())));
    claims.insert("sizeof(jvmtiEventCallbacks)".into(), size_of::<jvmtiEventCallbacks>() as i64);
    claims.insert("sizeof(jvmtiCapabilities)".into(), size_of::<jvmtiCapabilities>() as i64);
    claims.insert("sizeof(jvmtiInterface_1)".into(), size_of::<jvmtiInterface_1_>() as i64);
    for &(name, value) in CONSTANTS {
        claims.insert(name.into(), value.into());
    }
    for &(capability, name) in CAPABILITIES {
        claims.insert(format!("bit_of({name})"), capability.bit() as i64);
    }
    claims
}

/// The identifiers in the text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Asks the C compiler for the value of each expression.
fn values_in_c(header: &Path, expressions: &[&String]) -> Option<BTreeMap<String, i64>> {
    let mut program = String::from(
        "#include <stdio.h>\n#include <stddef.h>\n#include <string.h>\n#include <jvmti.h>\n\
         static long first_bit(const unsigned char *bytes) {\n\
           for (long i = 0; i < 128; i++) if (bytes[i / 8] >> (i % 8) & 1) return i;\n\
           return -1;\n\
         }\n\
         #define bit_of(name) (memset(&set, 0, sizeof set), set.name = 1, first_bit((const void *)&set))\n\
         int main(void) {\n  jvmtiCapabilities set;\n",
    );
    for expression in expressions {
        writeln!(program, "  printf(\"%ld\\n\", (long)({expression}));").expect("a string takes all");
    }
    program.push_str("  return 0;\n}\n");

    let folder = tempfile::tempdir().expect("a temporary folder");
    let (source, binary) = (folder.path().join("layout.c"), folder.path().join("layout"));
    fs::write(&source, program).expect("writing the program");
    let include = header.parent().expect("a header lies in a folder");
    let compiler = Command::new("cc")
        .arg("-I")
        .arg(include)
        .arg("-I")
        .arg(include.join("linux"))
        .arg("-o")
        .arg(&binary)
        .arg(&source)
        .output()
        .ok()?;
    assert!(compiler.status.success(), "{}", String::from_utf8_lossy(&compiler.stderr));
    let output = Command::new(&binary).output().expect("running the program");
    let lines = String::from_utf8(output.stdout).expect("numbers");
    let numbers = lines.lines().map(|line| line.parse().expect("a number"));
    Some(expressions.iter().map(|&expression| expression.clone()).zip(numbers).collect())
}

#[test]
fn every_header_agrees() {
    let claims = claims();
    for header in headers() {
        let text = fs::read_to_string(&header).expect("reading the header");
        let known: Vec<&str> = words(&text).collect();
        // An older header lacks the newest names, never one of the words offsetof, sizeof and bit_of are applied to first.
        let asked: Vec<&String> =
            claims.keys().filter(|claim| words(claim).last().is_some_and(|word| known.contains(&word))).collect();
        let Some(values) = values_in_c(&header, &asked) else {
            eprintln!("no C compiler `cc`: {} is not compared", header.display());
            return;
        };
        assert_eq!(values.len(), asked.len(), "{}", header.display());
        for (expression, value) in values {
            let claim = claims[&expression];
            let fits = claim == value || GROWING.contains(&expression.as_str()) && value < claim;
            assert!(fits, "{expression} is {value} in {}, {claim} here", header.display());
        }
    }
}

#[test]
fn no_header_has_more_errors_or_capabilities() {
    let claims = claims();
    for header in headers() {
        let text = fs::read_to_string(&header).expect("reading the header");
        for line in text.lines() {
            let name = words(line).next().unwrap_or_default();
            let declared = match name {
                "unsigned" if line.contains(" : 1;") => format!("bit_of({})", words(line).nth(2).unwrap_or_default()),
                "JVMTI_ERROR_MAX" => continue,
                _ if name.starts_with("JVMTI_ERROR_") => name.to_owned(),
                _ => continue,
            };
            assert!(claims.contains_key(&declared), "{declared} of {} is missing here", header.display());
        }
    }
}
