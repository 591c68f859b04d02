//! What class files ask of a JVM: from which release on it loads them, which of the changes of the class-file format (JVMS, "Class
//! File Format" of Java SE 8 to 25) they use, and which methods are too large to be compiled, to be inlined, or to be rewritten.

mod features;
mod hooks;

use std::collections::BTreeMap;
use std::fmt;

use classfile::{ClassFile, ParseError, Refusal, rewrite_class};
use trace::modified_utf8::decode;

pub use features::Feature;

/// HotSpot compiles no method with more bytes of code than this, unless it runs with `-XX:-DontCompileHugeMethods` (`HugeMethodLimit` in
/// its `runtime/globals.hpp`).
pub const HUGE_METHOD_LIMIT: usize = 8000;
/// HotSpot inlines no larger method into hot code, by default (`FreqInlineSize` in its `opto/c2_globals.hpp`).
pub const FREQ_INLINE_SIZE: usize = 325;
/// A method from so many bytes on is close to [`HUGE_METHOD_LIMIT`].
const NEAR_LIMIT: usize = HUGE_METHOD_LIMIT / 10 * 9;

/// A feature release of Java.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(pub u16);

impl Release {
    /// The release that brought a major version of the format; 45 came with the first.
    fn of_major(major: u16) -> Release {
        Release(major.saturating_sub(44).max(1))
    }

    /// The major version of the format that it brought.
    pub fn major(self) -> u16 {
        self.0.saturating_add(44)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1..=4 => write!(f, "1.{}", self.0),
            release => write!(f, "{release}"),
        }
    }
}

/// A method of a class file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// Its class, with dots.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Bytes of its code.
    pub bytes: usize,
}

/// How many classes, and one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// How many.
    pub number: u64,
    /// The name of the first, with dots.
    pub first: String,
}

impl Classes {
    fn add(&mut self, name: &str) {
        if self.number == 0 {
            name.clone_into(&mut self.first);
        }
        self.number += 1;
    }
}

/// What some class files ask of a JVM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// By the release whose format they have, which is the first that loads them.
    pub by_release: BTreeMap<Release, Classes>,
    /// Classes of multi-release jars that only JVMs look at which load them (`META-INF/versions`). They are not in `by_release`.
    pub versioned: u64,
    /// Of `by_release` the ones with preview features: only that release loads them, with `--enable-preview`.
    pub preview: BTreeMap<Release, Classes>,
    /// By what they use of the format.
    pub uses: BTreeMap<Feature, Classes>,
    /// Methods that have code.
    pub methods: u64,
    /// Of these the ones with more code than [`FREQ_INLINE_SIZE`].
    pub not_inlined: u64,
    /// Methods that HotSpot does not compile, or that are close to it; the largest first once [`finish`](Self::finish) was called.
    pub large: Vec<Method>,
    /// Methods in which `heap=counts` would not count, and why.
    pub refused: Vec<(Method, Refusal)>,
}

impl Survey {
    /// Adds a class file, of a multi-release jar with the release from which on JVMs look at it.
    ///
    /// # Errors
    /// It is none.
    pub fn add(&mut self, bytes: &[u8], looked_at_from: Option<Release>) -> Result<(), ParseError> {
        let class = ClassFile::parse(bytes)?;
        let name = decode(class.name()).replace('/', ".");
        let release = Release::of_major(class.major_version());
        if looked_at_from.is_some_and(|from| release <= from) {
            self.versioned += 1;
        } else {
            self.by_release.entry(release).or_default().add(&name);
            // JVMS 4.1: from version 56 on.
            if class.minor_version() == u16::MAX && class.major_version() >= 56 {
                self.preview.entry(release).or_default().add(&name);
            }
        }
        for feature in features::of(&class) {
            self.uses.entry(feature).or_default().add(&name);
        }
        let method = |method: &[u8], descriptor: &[u8], bytes: usize| {
            let (class, name, descriptor) = (name.clone(), decode(method), decode(descriptor));
            Method { class, name, descriptor, bytes }
        };
        for member in class.methods() {
            let Some(code) = member.code() else { continue };
            let bytes = code.bytes().len();
            self.methods += 1;
            self.not_inlined += u64::from(bytes > FREQ_INLINE_SIZE);
            if bytes >= NEAR_LIMIT {
                self.large.push(method(member.name(), member.descriptor(), bytes));
            }
        }
        for refused in rewrite_class(&class, &mut hooks::Hooks).refused {
            let is_it = |member: &classfile::Member<'_, '_>| {
                (member.name(), member.descriptor()) == (refused.name, refused.descriptor)
            };
            let code = class.methods().find(is_it).and_then(|member| member.code());
            let bytes = code.map_or(0, |code| code.bytes().len());
            self.refused.push((method(refused.name, refused.descriptor, bytes), refused.reason));
        }
        Ok(())
    }

    /// Puts the largest methods first.
    pub fn finish(&mut self) {
        self.large.sort_by(|a, b| (b.bytes, &a.class, &a.name).cmp(&(a.bytes, &b.class, &b.name)));
    }

    /// How many classes there are.
    pub fn classes(&self) -> u64 {
        self.versioned + self.by_release.values().map(|classes| classes.number).sum::<u64>()
    }

    /// How many classes a JVM of that release refuses to load (`UnsupportedClassVersionError`), preview features enabled.
    pub fn refused_by(&self, jvm: Release) -> u64 {
        let newer = self.by_release.iter().filter(|(release, _)| **release > jvm).map(|(_, classes)| classes.number);
        let preview = self.preview.iter().filter(|(release, _)| **release < jvm).map(|(_, classes)| classes.number);
        newer.chain(preview).sum()
    }

    /// The first release that loads all of them; `None` if there is none, or no class.
    pub fn needs(&self) -> Option<Release> {
        let newest = *self.by_release.last_key_value()?.0;
        (self.refused_by(newest) == 0).then_some(newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least that is a class: of a version, with so many `nop` in one method, and one more constant.
    fn class(major: u16, minor: u16, code: usize, constant: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE];
        let mut push = |part: &[u8]| bytes.extend_from_slice(part);
        push(&minor.to_be_bytes());
        push(&major.to_be_bytes());
        let texts: [&str; 5] = ["a/B", "java/lang/Object", "run", "()V", "Code"];
        let more = u16::from(!constant.is_empty());
        push(&(8 + more).to_be_bytes());
        for text in texts {
            push(&[1]);
            push(&(text.len() as u16).to_be_bytes());
            push(text.as_bytes());
        }
        // Classes 6 and 7.
        push(&[7, 0, 1, 7, 0, 2]);
        push(constant);
        push(&[0, 0x21, 0, 6, 0, 7, 0, 0, 0, 0, 0, 1]);
        push(&[0, 9, 0, 3, 0, 4, 0, 1, 0, 5]);
        let length = (code + 1) as u32;
        push(&(length + 12).to_be_bytes());
        push(&[0, 0, 0, 0]);
        push(&length.to_be_bytes());
        push(&vec![0; code]);
        push(&[0xB1, 0, 0, 0, 0, 0, 0]);
        bytes
    }

    fn survey(classes: &[Vec<u8>]) -> Survey {
        let mut survey = Survey::default();
        classes.iter().for_each(|class| survey.add(class, None).expect("a class file"));
        survey.finish();
        survey
    }

    #[test]
    fn a_jvm_refuses_what_is_newer_and_previews_of_other_releases() {
        let survey = survey(&[class(52, 0, 1, &[]), class(61, 0, 1, &[]), class(65, u16::MAX, 1, &[])]);
        assert_eq!(survey.classes(), 3);
        let refused = [8, 11, 17, 21, 25].map(|jvm| survey.refused_by(Release(jvm)));
        assert_eq!(refused, [2, 2, 1, 0, 1]);
        assert_eq!(survey.needs(), Some(Release(21)));
        assert_eq!(
            (Release(21).major(), Release(4).to_string(), Release(25).to_string()),
            (65, "1.4".into(), "25".into())
        );
    }

    #[test]
    fn classes_of_a_multi_release_jar_need_no_newer_jvm() {
        let mut survey = survey(&[class(52, 0, 1, &[])]);
        // The last is in the folder of a release that cannot load it.
        for (major, from) in [(65, 21), (61, 21), (65, 11)] {
            survey.add(&class(major, 0, 1, &[]), Some(Release(from))).expect("a class file");
        }
        assert_eq!((survey.classes(), survey.versioned, survey.refused_by(Release(17))), (4, 2, 1));
    }

    #[test]
    fn two_previews_have_no_jvm_in_common() {
        let survey = survey(&[class(64, u16::MAX, 1, &[]), class(65, u16::MAX, 1, &[])]);
        assert_eq!(survey.needs(), None);
        assert_eq!(Survey::default().needs(), None);
    }

    #[test]
    fn methods_are_large_by_the_limits_of_hotspot() {
        let sizes = [324, 325, 7198, 7199, 8000];
        let survey = survey(&sizes.map(|size| class(52, 0, size, &[])));
        // One more for `return`.
        assert_eq!((survey.methods, survey.not_inlined), (5, 4));
        let large: Vec<usize> = survey.large.iter().map(|method| method.bytes).collect();
        assert_eq!(large, [8001, 7200]);
        assert_eq!(
            (&*survey.large[0].class, &*survey.large[0].name, &*survey.large[0].descriptor),
            ("a.B", "run", "()V")
        );
    }

    #[test]
    fn constants_show_what_is_used() {
        let dynamic = class(55, 0, 1, &[17, 0, 0, 0, 0]);
        let invoke_dynamic = class(51, 0, 1, &[18, 0, 0, 0, 0]);
        let survey = survey(&[dynamic, invoke_dynamic]);
        let uses: Vec<(Feature, u64)> =
            survey.uses.iter().map(|(&feature, classes)| (feature, classes.number)).collect();
        assert_eq!(uses, [(Feature::InvokeDynamic, 1), (Feature::DynamicConstants, 1)]);
    }

    #[test]
    fn what_is_no_class_is_refused_and_changes_nothing() {
        let mut survey = Survey::default();
        assert!(survey.add(b"PK\x03\x04", None).is_err());
        assert_eq!(survey, Survey::default());
    }
}
