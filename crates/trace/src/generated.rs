//! The names of classes that the JDK makes at run time: lambdas, hidden classes, proxies, accessors of reflection.
//!
//! They end in an address or a number that differs from run to run, so each would be a row of its own, and no two traces would
//! have a row in common. Reports name them without it, and rows of one name are added up.

use std::borrow::Cow;

use crate::names;

/// What `java.lang.reflect.Proxy` makes, whichever module and number it gets.
const PROXY: &str = "jdk.proxy.$Proxy";

/// What reflection makes of a method or constructor that is called often, before JDK 18; a number follows.
const ACCESSORS: [&str; 3] =
    ["GeneratedMethodAccessor", "GeneratedConstructorAccessor", "GeneratedSerializationConstructorAccessor"];

/// The name of a class without what is random in it; the name itself if the JDK did not generate it.
pub fn plain_name(class: &str) -> Cow<'_, str> {
    let element = names::element_name(class);
    let plain = plain_element_name(element);
    if plain == element { Cow::Borrowed(class) } else { Cow::Owned(format!("{plain}{}", &class[element.len()..])) }
}

/// The same for the name of a class that is no array.
pub fn plain_element_name(class: &str) -> &str {
    let class = without_address(class);
    if let Some(lambda) = without_number(class).and_then(|class| class.strip_suffix('$'))
        && lambda.ends_with("$$Lambda")
    {
        return lambda;
    }
    match class.rsplit_once('.') {
        Some((package, name)) if is_proxy(package, name) => PROXY,
        Some(("jdk.internal.reflect" | "sun.reflect", name)) => match without_number(name) {
            Some(accessor) if ACCESSORS.contains(&accessor) => &class[..class.len() - name.len() + accessor.len()],
            _ => class,
        },
        _ => class,
    }
}

/// Without the address of a hidden class: `p.C/0x7f`, on JDK 11 `p.C.0x7f`; JDK 8 wrote a hash, `p.C/4711`. No name of a class file
/// has a slash or a part that begins with a digit.
fn without_address(class: &str) -> &str {
    let Some((name, address)) = class.rsplit_once(['/', '.']) else { return class };
    let is_address = match address.strip_prefix("0x") {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit()),
        None => class.as_bytes()[name.len()] == b'/' && without_number(address) == Some(""),
    };
    if is_address { name } else { class }
}

/// What stands before the number at the end; `None` if there is none.
fn without_number(name: &str) -> Option<&str> {
    let before = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (before.len() < name.len()).then_some(before)
}

/// Is it a proxy in a package of the JDK's: `com.sun.proxy`, `jdk.proxy1`, `com.sun.proxy.jdk.proxy1`? A proxy of an interface that is not
/// public is in the interface's package, as classes of the program are.
fn is_proxy(package: &str, name: &str) -> bool {
    let module = package.strip_prefix("com.sun.proxy.").unwrap_or(package);
    without_number(name) == Some("$Proxy") && (module == "com.sun.proxy" || without_number(module) == Some("jdk.proxy"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn generated_classes_are_named_without_what_is_random() {
        for (generated, plain) in [
            ("app.Main$$Lambda$14/0x0000000800c03000", "app.Main$$Lambda"),
            ("app.Main$$Lambda$14.0x0000000800c03000", "app.Main$$Lambda"),
            ("app.Main$$Lambda/0x00007f2a1c000a00", "app.Main$$Lambda"),
            ("app.Main$$Lambda$14/1804697021", "app.Main$$Lambda"),
            ("app.Main$$Lambda$14", "app.Main$$Lambda"),
            ("app.Main$$Lambda/0x7f[][]", "app.Main$$Lambda[][]"),
            ("Main$$Lambda$1", "Main$$Lambda"),
            ("java.lang.invoke.LambdaForm$MH/0x0000000800066840", "java.lang.invoke.LambdaForm$MH"),
            ("java.lang.invoke.LambdaForm$DMH.0x0000000800066840", "java.lang.invoke.LambdaForm$DMH"),
            ("app.Made/0x7F", "app.Made"),
            ("jdk.proxy2.$Proxy17", "jdk.proxy.$Proxy"),
            ("com.sun.proxy.$Proxy3", "jdk.proxy.$Proxy"),
            ("com.sun.proxy.jdk.proxy1.$Proxy0[]", "jdk.proxy.$Proxy[]"),
            ("jdk.internal.reflect.GeneratedMethodAccessor12", "jdk.internal.reflect.GeneratedMethodAccessor"),
            ("sun.reflect.GeneratedConstructorAccessor3", "sun.reflect.GeneratedConstructorAccessor"),
            (
                "jdk.internal.reflect.GeneratedSerializationConstructorAccessor1",
                "jdk.internal.reflect.GeneratedSerializationConstructorAccessor",
            ),
        ] {
            assert_eq!(plain_name(generated), plain);
            assert_eq!(plain_name(plain), plain);
        }
    }

    #[test]
    fn names_that_only_look_generated_stay_as_they_are() {
        for name in [
            "",
            "[]",
            "Foo$$LambdaX",
            "app.Foo$$LambdaX7",
            "app.Foo$$Lambda14",
            "app.Foo$$Lambda$14$Inner",
            "app.Foo$Lambda$14",
            "app.$Proxy3",
            "app.proxy2.$Proxy17",
            "jdk.proxy2.$Proxy17Handler",
            "jdk.proxyx.$Proxy17",
            "com.sun.proxy.app.$Proxy1",
            "jdk.proxy2.Proxy17",
            "app.GeneratedMethodAccessor12",
            "jdk.internal.reflect.MethodAccessor12",
            "jdk.internal.reflect.GeneratedMethodAccessor",
            "java.util.Map$1",
            "int[]",
            "app.Base64",
            "app.Hex$0xcafe",
            "app.A+0x7f",
            "app.Made/0x",
            "app.Made/0xyz",
            "java/lang/String",
            "(undefined class 17)",
        ] {
            assert_eq!(plain_name(name), name);
        }
    }

    proptest! {
        /// Packages and names of a program, with digits behind each part.
        #[test]
        fn names_of_a_program_stay_as_they_are(name in r"(app|lib)[0-9]{0,2}(\.[a-zü]{1,5}[0-9]{0,3}){0,3}\.(\$Proxy|[A-Z][a-z$]{0,6})[0-9]{0,3}(\[\]){0,2}") {
            prop_assert_eq!(plain_name(&name), name.as_str());
        }

        #[test]
        fn a_plain_name_has_nothing_to_leave_out(name in r"(jdk\.proxy[0-9]?\.|com\.sun\.proxy\.|sun\.reflect\.|[a-z.]{0,4})(\$Proxy|A\$\$Lambda|GeneratedMethodAccessor|ü)\$?[0-9]{0,2}([/.](0x)?[0-9a-f]{0,3})?(\[\])?") {
            let plain = plain_name(&name);
            prop_assert!(plain.len() <= name.len() || plain.starts_with(PROXY));
            prop_assert_eq!(plain_name(&plain), plain.as_ref());
        }
    }
}
