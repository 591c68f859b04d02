//! Call trees as JSON: a list of nodes, each in front of those below it, because readers of JSON do not take any depth.

use analysis::call_tree::{Label, Node, Ran};
use serde_json::{Value, json};

use crate::render::allocation_json::location;

/// The nodes of a tree.
pub(crate) fn nodes(root: &Node<'_>) -> Value {
    let mut nodes = Vec::new();
    add(root, 0, &mut nodes);
    nodes.into()
}

fn add(node: &Node<'_>, depth: usize, nodes: &mut Vec<Value>) {
    let (kind, at) = match &node.label {
        None => ("root", Value::Null),
        Some(Label::Line(at)) => ("line", location(at)),
        Some(Label::Method { .. }) => ("method", Value::Null),
        Some(Label::Code(_)) => ("code", Value::Null),
        Some(Label::Package(_)) => ("package", Value::Null),
        Some(Label::Module(_)) => ("module", Value::Null),
        Some(Label::Class(_)) => ("class", Value::Null),
        Some(Label::Thread(_)) => ("thread", Value::Null),
        Some(Label::NoStack) => ("no_stack", Value::Null),
        Some(Label::Function { .. }) => ("function", Value::Null),
        Some(Label::Library(_)) => ("library", Value::Null),
        Some(Label::Kernel) => ("kernel", Value::Null),
        Some(Label::VmThreads(_)) => ("vm_threads", Value::Null),
        Some(Label::NativeThreads(_)) => ("native_threads", Value::Null),
        Some(Label::Lost(_)) => ("lost", Value::Null),
        Some(Label::State(_)) => ("state", Value::Null),
    };
    let mut fields = json!({
        "depth": depth,
        "kind": kind,
        "name": node.label.map(|label| label.to_string()),
        "at": at,
        "is_jdk": node.label.is_some_and(|label| label.is_jdk()),
        "count": node.count,
        "weight": node.weight,
        "error": node.error,
        "own": node.own,
        "left_out": node.left_out,
        "left_out_weight": node.left_out_weight,
    });
    if !node.ran.most(0.0).is_empty() {
        let ran = Ran::ALL.into_iter().map(|ran| (ran.mark().to_owned(), json!(node.ran.of(ran).round() as u64)));
        fields["ran"] = Value::Object(ran.collect());
    }
    nodes.push(fields);
    node.children.iter().for_each(|child| add(child, depth + 1, nodes));
}
