//! A heap that was built on purpose: who holds what is known, and has to come out of the JVM's dump.

use analysis::heap_dump::contents::{Described, Wanted, describe};
use analysis::heap_dump::{Dominators, Excluded, Graph, ObjectIndex, RootKind, Strength};
use bci_tests::jdk::Jdk;
use bci_tests::profiled::Profiled;
use bci_tests::suite::Suite;

use crate::support::{dumped_by_the_jvm, read};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(who_holds_what);
}

const LINKS: u64 = 1_000_000;

/// The one object of a class.
#[track_caller]
fn only(graph: &Graph, class: &str) -> ObjectIndex {
    let found: Vec<ObjectIndex> = graph.objects().filter(|&object| graph.class_name(object) == class).collect();
    assert_eq!(found.len(), 1, "objects of {class}");
    found[0]
}

fn who_holds_what(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).without_agent().flags(&["-Xmx256m"]);
    let mut running = profiled.main("held.Main").args(&[LINKS.to_string()]).start();
    running.wait_for("held");
    let file = running.dir.join("heap.hprof");
    dumped_by_the_jvm(jdk, running.pid(), &file);
    running.send("");
    let (file, loaded) = read(&file);
    let graph = &loaded.graph;
    let dominators = Dominators::of(graph).expect("not too many");
    let main =
        graph.classes_named("held.Main").next().and_then(|class| graph.class(class).object).expect("it is loaded");

    // Fields and paths by name.
    let mut wanted = Wanted::default();
    wanted.objects.insert(main);
    let local = only(graph, "held.Main$InThread");
    let path = graph.paths(local, Excluded::WEAK, 1).pop().expect("it is held");
    wanted.path(&path);
    let described = describe(&file, &loaded, &wanted, &mut |_, _| {}).expect("it was read before");
    let field = |name: &str| field(graph, &described, main, name);

    // Sizes: a chain, a ring, something that two hold.
    let head = field("chain");
    let link = graph.shallow(head);
    assert_eq!(dominators.retained(head), LINKS * link);
    let ring = field("ring");
    assert_eq!(dominators.retained(ring), 3 * graph.shallow(ring));
    assert_eq!(dominators.dominator(ring), Some(main));
    let shared = only(graph, "held.Main$Shared");
    assert_eq!(dominators.dominator(shared), Some(main), "both holders are held by the class");
    let first = field("first");
    assert_eq!(dominators.retained(first), graph.shallow(first));
    assert_eq!(graph.referring(shared, Excluded::default()).len(), 2);
    let grid = field("grid");
    let inner: u64 = graph.references(grid).iter().map(|&row| graph.shallow(row)).sum();
    assert_eq!(
        (graph.references(grid).len(), graph.class_name(grid)),
        (3, "long[][]"),
        "and not its class, which the JVM keeps"
    );
    assert_eq!(dominators.retained(grid), graph.shallow(grid) + inner);

    // References that hold, and that do not.
    let soft = only(graph, "held.Main$Soft");
    assert_eq!(dominators.dominator(soft), Some(field("soft")));
    assert_eq!(graph.paths(soft, Excluded { soft: true, ..Excluded::default() }, 1), Vec::<Vec<ObjectIndex>>::new());
    for (class, reference, strength) in
        [("held.Main$Weak", "weak", Strength::Weak), ("held.Main$Phantom", "phantom", Strength::Phantom)]
    {
        let target = only(graph, class);
        assert_eq!(dominators.dominator(target), Some(field("strong")), "{class}");
        let referent = graph.referent(field(reference)).expect("it is not cleared");
        assert_eq!((referent.target, referent.strength), (target, strength));
        assert_eq!(graph.referring(target, Excluded::default()).len(), 2);
        assert_eq!(graph.referring(target, Excluded::WEAK).len(), 1);
    }

    // Roots.
    let in_frame = graph.roots_of(only(graph, "held.Main$Local"));
    assert!(in_frame.iter().any(|root| root.kind == RootKind::JavaFrame && root.thread.is_some()), "{in_frame:?}");
    assert!(graph.roots_of(path[0]).iter().any(|root| root.kind == RootKind::ThreadObject));
    let names: Vec<Option<&str>> = path.windows(2).map(|pair| described.name(pair[0], pair[1])).collect();
    assert_eq!(names[0], Some("threadLocals"));
    assert_eq!((names[1], names.last()), (Some("table"), Some(&Some("value"))));

    // A class that its own loader loaded is held by its instance, and holds the loader.
    let instance = field("loaded");
    let loaded_class = graph.class(graph.class_of(instance));
    let loader = loaded_class.loader.expect("it has one");
    assert_eq!(graph.class_name(loader), "held.Main$Loader");
    assert_eq!(dominators.dominator(loaded_class.object.expect("it is in the dump")), Some(instance));
    assert!(dominators.retained(instance) > 1000 + graph.shallow(loader));
}

#[track_caller]
fn field(graph: &Graph, described: &Described, class: ObjectIndex, name: &str) -> ObjectIndex {
    let value = described.field(class, name).unwrap_or_else(|| panic!("there is a field {name}"));
    let id = value.object().unwrap_or_else(|| panic!("{name} is set"));
    graph.object(analysis::heap_dump::DumpId(id.0)).unwrap_or_else(|| panic!("what {name} refers to is in the dump"))
}
