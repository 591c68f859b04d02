//! docs/reference/trace-format.md says what the code does.

use std::path::Path;

use trace::model::{Element, Presence};
use trace::validate::{Profile, Rule};

fn documentation() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/trace-format.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn every_element_is_described_with_its_attributes_in_order() {
    let text = documentation();
    for spec in Element::SPECS {
        let attributes = spec.attributes.iter().map(|attribute| match attribute.presence {
            Presence::Optional => format!("[{}]", attribute.name),
            Presence::Required | Presence::Expected => attribute.name.to_owned(),
        });
        let attributes: Vec<String> = attributes.collect();
        let row = format!("| `{}` | `{}` | ", spec.name, attributes.join(" "));
        assert!(text.contains(&row), "there is no row {row}");
    }
}

#[test]
fn every_rule_is_described() {
    let text = documentation();
    for rule in Rule::ALL {
        let holds = match rule.profile() {
            Profile::Lenient => "all",
            Profile::Strict => "strict",
        };
        let row = format!("| `{rule}` | {holds} | ");
        assert!(text.contains(&row), "there is no row {row}");
    }
}
