//! What a class uses of the format, by the release that brought it.

use classfile::{ClassFile, Constant, access};

use super::Release;

/// A change of the class-file format, or of what the class library links calls with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feature {
    /// `invokedynamic`: lambdas and whatever else a bootstrap method links.
    InvokeDynamic,
    /// Methods of interfaces that have code.
    DefaultMethods,
    /// A module's declaration.
    Modules,
    /// Strings joined by `StringConcatFactory`.
    StringConcat,
    /// Constants that a bootstrap method makes.
    DynamicConstants,
    /// Nests: classes that share their private members without bridges.
    NestMates,
    /// Records.
    Records,
    /// Sealed classes.
    SealedClasses,
    /// Switches over patterns, linked by `SwitchBootstraps`.
    PatternSwitches,
}

impl Feature {
    /// Since when JVMs know it.
    pub fn since(self) -> Release {
        Release(match self {
            Feature::InvokeDynamic => 7,
            Feature::DefaultMethods => 8,
            Feature::Modules | Feature::StringConcat => 9,
            Feature::DynamicConstants | Feature::NestMates => 11,
            Feature::Records => 16,
            Feature::SealedClasses => 17,
            Feature::PatternSwitches => 21,
        })
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Feature::InvokeDynamic => "invokedynamic",
            Feature::DefaultMethods => "methods in interfaces",
            Feature::Modules => "modules",
            Feature::StringConcat => "string concatenation by invokedynamic",
            Feature::DynamicConstants => "dynamic constants",
            Feature::NestMates => "nest mates",
            Feature::Records => "records",
            Feature::SealedClasses => "sealed classes",
            Feature::PatternSwitches => "pattern switches",
        }
    }
}

/// What a class uses, in order, each once.
pub(super) fn of(class: &ClassFile<'_>) -> Vec<Feature> {
    let pool = class.pool();
    let constants = (1..pool.count()).filter_map(|index| Some((index, pool.get(index)?)));
    let mut uses: Vec<Feature> = constants
        .filter_map(|(index, constant)| match constant {
            Constant::InvokeDynamic { .. } => Some(Feature::InvokeDynamic),
            Constant::Dynamic { .. } => Some(Feature::DynamicConstants),
            Constant::Class { .. } => match pool.class_name(index)? {
                b"java/lang/invoke/StringConcatFactory" => Some(Feature::StringConcat),
                b"java/lang/runtime/SwitchBootstraps" => Some(Feature::PatternSwitches),
                _ => None,
            },
            _ => None,
        })
        .collect();
    // A JVM that does not know an attribute ignores it (JVMS 4.7.1), and so does a newer one in a class of an older version.
    let attributes = class.attributes().filter_map(|attribute| match attribute.name {
        b"Module" => Some(Feature::Modules),
        b"NestHost" | b"NestMembers" => Some(Feature::NestMates),
        b"Record" => Some(Feature::Records),
        b"PermittedSubclasses" => Some(Feature::SealedClasses),
        _ => None,
    });
    uses.extend(attributes.filter(|feature| feature.since().major() <= class.major_version()));
    let is_interface = class.access_flags() & access::INTERFACE != 0;
    if is_interface && class.methods().any(|method| method.name() != b"<clinit>" && method.code().is_some()) {
        uses.push(Feature::DefaultMethods);
    }
    uses.sort_unstable();
    uses.dedup();
    uses
}
