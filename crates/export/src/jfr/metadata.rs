//! The event that declares the types: a tree of elements with attributes, all of whose texts are numbers in a list.

use rustc_hash::FxHashMap;

use super::encode::{event, number, text};
use super::types::{CATEGORY, Field, LABEL, TYPES, Type};

/// The type of this event.
const METADATA: u64 = 0;

/// Texts, each once.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    index: FxHashMap<String, u64>,
}

impl Texts {
    fn of(&mut self, text: &str) -> u64 {
        if let Some(&known) = self.index.get(text) {
            return known;
        }
        let new = self.all.len() as u64;
        self.all.push(text.to_owned());
        self.index.insert(text.to_owned(), new);
        new
    }
}

/// An element of the tree.
struct Node {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Node>,
}

impl Node {
    fn new(name: &'static str, attributes: Vec<(&'static str, String)>) -> Node {
        Node { name, attributes, children: Vec::new() }
    }

    fn write(&self, texts: &mut Texts, out: &mut Vec<u8>) {
        number(out, texts.of(self.name));
        number(out, self.attributes.len() as u64);
        for (name, value) in &self.attributes {
            number(out, texts.of(name));
            number(out, texts.of(value));
        }
        number(out, self.children.len() as u64);
        self.children.iter().for_each(|child| child.write(texts, out));
    }
}

/// The event.
pub(super) fn metadata() -> Vec<u8> {
    let mut types = Node::new("metadata", Vec::new());
    types.children.extend(TYPES.iter().map(type_node));
    let mut root = Node::new("root", Vec::new());
    root.children = vec![types, Node::new("region", vec![("locale", "en_US".into()), ("gmtOffset", "0".into())])];
    let (mut texts, mut tree) = (Texts::default(), Vec::new());
    root.write(&mut texts, &mut tree);
    let mut body = Vec::new();
    // When it was written, how long that took, and the number of the declaration.
    [0, 0, 1].into_iter().for_each(|value| number(&mut body, value));
    number(&mut body, texts.all.len() as u64);
    texts.all.iter().for_each(|one| text(&mut body, one));
    body.extend(tree);
    let mut out = Vec::new();
    event(&mut out, METADATA, &body);
    out
}

fn type_node(one: &Type) -> Node {
    let mut node = Node::new("class", vec![("name", one.name.into()), ("id", one.id.to_string())]);
    if !one.extends.is_empty() {
        node.attributes.push(("superType", one.extends.into()));
    }
    if one.is_simple {
        node.attributes.push(("simpleType", "true".into()));
    }
    node.children.extend(label(one.label));
    if !one.category.is_empty() {
        // The elements of an array are attributes with its name and a number.
        const NAMES: [&str; 3] = ["value-0", "value-1", "value-2"];
        let values = NAMES.into_iter().zip(one.category).map(|(name, value)| (name, (*value).to_owned()));
        node.children.push(annotation(CATEGORY, values.collect()));
    }
    node.children.extend(one.fields.iter().map(field_node));
    node
}

fn field_node(field: &Field) -> Node {
    let mut node = Node::new("field", vec![("name", field.name.into()), ("class", field.of.to_string())]);
    if field.is_constant {
        node.attributes.push(("constantPool", "true".into()));
    }
    if field.is_array {
        node.attributes.push(("dimension", "1".into()));
    }
    node.children.extend(label(field.label));
    node.children.extend(field.unit.map(|(unit, value)| annotation(unit, vec![("value", value.into())])));
    node
}

fn label(text: &str) -> Option<Node> {
    (!text.is_empty()).then(|| annotation(LABEL, vec![("value", text.into())]))
}

fn annotation(id: u64, values: Vec<(&'static str, String)>) -> Node {
    let mut node = Node::new("annotation", vec![("class", id.to_string())]);
    node.attributes.extend(values);
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_its_own_number_and_refers_to_declared_ones() {
        let ids: Vec<u64> = TYPES.iter().map(|one| one.id).collect();
        for one in TYPES {
            assert_eq!(ids.iter().filter(|id| **id == one.id).count(), 1, "{}", one.name);
            assert!(one.category.len() <= 3, "{}", one.name);
            for field in one.fields {
                let units = field.unit.map(|(unit, _)| unit);
                assert!([field.of].into_iter().chain(units).all(|id| ids.contains(&id)), "{} {}", one.name, field.name);
            }
        }
    }
}
