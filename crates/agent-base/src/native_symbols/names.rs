//! Names of functions as people write them: those of Rust and C++ demangled.

use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, Symbol};

/// A longer name is cut, in characters.
pub(super) const LONGEST: usize = 256;

/// Whether a name is one of C++ or of Rust.
pub(super) fn is_mangled(name: &[u8]) -> bool {
    name.starts_with(b"_Z") || name.starts_with(b"_R")
}

/// A symbol's name for people: without parameters and without the version behind an `@`.
pub(super) fn demangled(symbol: &[u8]) -> String {
    let end = symbol.iter().position(|&byte| byte == b'@').filter(|&at| at > 0).unwrap_or(symbol.len());
    let symbol = &symbol[..end];
    let text = String::from_utf8_lossy(symbol);
    let mut name = Name::default();
    if is_mangled(symbol) {
        if let Ok(rust) = rustc_demangle::try_demangle(&text) {
            // The alternate form is without the hash.
            let _ = write!(name, "{rust:#}");
        } else if let Ok(cpp) = Symbol::new(symbol) {
            let options = DemangleOptions::new().no_params().no_return_type();
            // It ends early where the name is too long or nested too deeply; what there is then will do.
            let _ = cpp.structured_demangle(&mut name, &options);
        }
    }
    if name.text.is_empty() {
        let _ = name.write_str(&text);
    }
    name.text
}

/// Takes no more than [`LONGEST`] characters, and then stops who writes.
#[derive(Default)]
struct Name {
    text: String,
    length: usize,
}

impl Write for Name {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        for character in more.chars() {
            if self.length == LONGEST {
                self.text.pop();
                self.text.push('…');
                return Err(fmt::Error);
            }
            self.text.push(character);
            self.length += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(symbol: &str) -> String {
        demangled(symbol.as_bytes())
    }

    #[test]
    fn names_are_as_people_write_them() {
        assert_eq!(shown("_ZN20SafepointSynchronize5beginEv"), "SafepointSynchronize::begin");
        assert_eq!(shown("_ZN7martini5agent4core17h0123456789abcdefE"), "martini::agent::core");
        assert_eq!(shown("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
        assert_eq!(shown("memcpy@@GLIBC_2.14"), "memcpy");
        assert_eq!(shown("Java_java_util_zip_CRC32_updateBytes0"), "Java_java_util_zip_CRC32_updateBytes0");
        assert_eq!(shown("_Znot one"), "_Znot one");
        assert_eq!(shown("@"), "@");
    }

    #[test]
    fn long_names_are_cut() {
        let long = shown(&"x".repeat(1000));
        assert_eq!((long.chars().count(), long.ends_with("x…")), (LONGEST, true));
        assert_eq!(shown(&"x".repeat(LONGEST)), "x".repeat(LONGEST));
        // f<pair<int, int>, pair<pair<int, int>, pair<int, int>>, ...>: each is twice the one before, 2^30 in all.
        let digits: Vec<char> = ('0'..='9').chain('A'..='Z').collect();
        let pairs: String = (1..31).map(|n| format!("S0_IS{0}_S{0}_E", digits[n])).collect();
        let doubled = shown(&format!("_Z1fISt4pairIiiE{pairs}Evv"));
        assert!(doubled.starts_with("f<std::pair<int, int>, std::pair<std::pair<int, int>"), "{doubled}");
        assert_eq!(doubled.chars().count(), LONGEST);
    }

    proptest! {
        #[test]
        fn any_name_has_a_short_form(name in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(demangled(&name).chars().count() <= LONGEST);
        }

        #[test]
        fn anything_that_looks_mangled_too(name in "_(Z|ZN|R|RNv|ZTI|ZSt)[A-Za-z0-9_$.]{0,120}") {
            prop_assert!(demangled(name.as_bytes()).chars().count() <= LONGEST);
        }
    }
}
