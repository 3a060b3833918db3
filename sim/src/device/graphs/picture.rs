//! Graphs as text, for people.

use std::fmt::Write;

use crate::device::graphs::graph::Graph;
use crate::device::graphs::node::NodeKind;
use crate::device::sync::lock;

/// The graph in the language of Graphviz; with `details`, what nodes do.
pub(in crate::device) fn picture(graph: &Graph, details: bool) -> String {
    let mut text = String::from("digraph graph_0 {\n");
    cluster(graph, details, &mut text);
    text.push_str("}\n");
    text
}

fn cluster(graph: &Graph, details: bool, text: &mut String) {
    let dag = lock(&graph.dag);
    let first = dag.nodes().next().map_or(0, |(handle, _)| handle);
    let name = |handle: u64| format!("\"graph_{}_node_{}\"", graph.handle, handle - first);
    // Writing to a text does not fail.
    let _ = writeln!(text, "subgraph cluster_{} {{", graph.handle);
    for (handle, node) in dag.nodes() {
        let what = match &node.kind {
            NodeKind::Kernel(kernel) => {
                let (name, config) = (&kernel.launch.function.kernel.name, kernel.launch.config);
                match details {
                    true => format!("{name}\\ngrid {:?} block {:?}", config.grid, config.block),
                    false => name.clone(),
                }
            }
            NodeKind::Copy(copy) => match details {
                true => {
                    let extent = &copy.params;
                    let [x, y, z] = [extent.WidthInBytes, extent.Height, extent.Depth];
                    format!("copy\\n{x} x {y} x {z} bytes")
                }
                false => "copy".into(),
            },
            NodeKind::Fill(fill) => match details {
                true => format!(
                    "memset\\n0x{:x} to 0x{:x}",
                    fill.params.value, fill.params.dst
                ),
                false => "memset".into(),
            },
            NodeKind::Host(_) => "function".into(),
            NodeKind::Child(_) => "graph".into(),
            NodeKind::Empty => "empty".into(),
            NodeKind::Record(_) => "event record".into(),
            NodeKind::Wait(_) => "event wait".into(),
            NodeKind::Alloc(seat) => format!("{} bytes at 0x{:x}", seat.len, seat.address),
            NodeKind::Free(address) => format!("free of 0x{address:x}"),
            NodeKind::Conditional(node) => match details {
                true => format!(
                    "{:?} of {} graphs\\nvalue 0x{:x}",
                    node.choice,
                    node.bodies.len(),
                    node.condition.handle
                ),
                false => "conditional".into(),
            },
            NodeKind::Values(values) => format!("{} values", values.params.len()),
        };
        let _ = writeln!(
            text,
            "{} [shape=\"rectangle\" label=\"{what}\"];",
            name(handle)
        );
        for graph in node.kind.graphs() {
            cluster(graph, details, text);
        }
    }
    for (from, to) in dag.edges() {
        let _ = writeln!(text, "{} -> {};", name(from), name(to));
    }
    text.push_str("}\n");
}
