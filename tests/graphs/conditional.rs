//! Conditional nodes: graphs that run if a number on the device says so.

use cupola_managers::graph::{ConditionStart, GraphBuilder, NodeKind};
use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{Buffer, Error};

use crate::common::Bench;

const PTX: &str = "
.version 8.0
.target sm_60
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

// Counts a number down, and sets the condition to it.
.visible .entry count_down(.param .u64 condition, .param .u64 counter) {
    .reg .b64 %condition, %counter;
    .reg .b32 %left;
    ld.param.u64 %condition, [condition];
    ld.param.u64 %counter, [counter];
    cvta.to.global.u64 %counter, %counter;
    ld.global.u32 %left, [%counter];
    sub.u32 %left, %left, 1;
    st.global.u32 [%counter], %left;
    {
        .param .b64 handle;
        .param .b32 value;
        st.param.b64 [handle], %condition;
        st.param.b32 [value], %left;
        call.uni cudaGraphSetConditional, (handle, value);
    }
    ret;
}

// Sets the condition to a number.
.visible .entry choose(.param .u64 condition, .param .u64 number) {
    .reg .b64 %condition, %number;
    .reg .b32 %chosen;
    ld.param.u64 %condition, [condition];
    ld.param.u64 %number, [number];
    cvta.to.global.u64 %number, %number;
    ld.global.u32 %chosen, [%number];
    {
        .param .b64 handle;
        .param .b32 value;
        st.param.b64 [handle], %condition;
        st.param.b32 [value], %chosen;
        call.uni cudaGraphSetConditional, (handle, value);
    }
    ret;
}

// Adds 1 to a number.
.visible .entry count(.param .u64 counter) {
    .reg .b64 %counter;
    .reg .b32 %so_far;
    ld.param.u64 %counter, [counter];
    cvta.to.global.u64 %counter, %counter;
    ld.global.u32 %so_far, [%counter];
    add.u32 %so_far, %so_far, 1;
    st.global.u32 [%counter], %so_far;
    ret;
}
";

const ONE: LaunchConfig = LaunchConfig::linear(1, 1);

struct Kernels {
    count_down: Function,
    choose: Function,
    count: Function,
}

fn kernels(bench: &Bench) -> Kernels {
    let module = bench.context.modules().load_ptx(PTX).unwrap();
    let kernel = |name: &str| module.function(name).unwrap();
    Kernels {
        count_down: kernel("count_down"),
        choose: kernel("choose"),
        count: kernel("count"),
    }
}

fn number(bench: &Bench, value: u32) -> Buffer<u32> {
    bench.pool.upload(&[value], &bench.stream).unwrap()
}

// Without it a loop could run once too often, or what only its body uses be gone by the launch.
#[test]
fn a_loop_runs_until_a_kernel_ends_it() {
    let bench = Bench::open();
    let kernels = kernels(&bench);
    let (mut left, mut runs) = (number(&bench, 0), number(&bench, 0));
    let mut builder = GraphBuilder::new(&bench.context).unwrap();
    let goes_on = builder.condition(ConditionStart::Value(1)).unwrap();
    let cleared = builder.fill(&[], &mut runs, 0).unwrap();
    let scratch = number(&bench, 5);
    let node = builder
        .repeat_while(&[cleared], goes_on, |body| {
            // SAFETY: here and below: the kernels change the number that they get.
            let counted = unsafe { body.kernel(&[], &kernels.count, ONE, (&mut runs,)) }?;
            let copied = body.copy(&[counted], &scratch, &mut number(&bench, 0))?;
            let arguments = (goes_on, &mut left);
            // SAFETY: as above.
            unsafe { body.kernel(&[copied], &kernels.count_down, ONE, arguments) }?;
            Ok::<_, Error>(())
        })
        .unwrap();
    assert_eq!(node.kind(), NodeKind::Conditional);
    let mut executable = builder.finish().instantiate().unwrap();
    drop((kernels, scratch));
    for rounds in [1, 5, 17] {
        ops::fill(&mut left, rounds, &bench.stream).unwrap();
        executable.launch(&bench.stream).unwrap();
        assert_eq!(runs.to_vec(&bench.stream).unwrap(), [rounds]);
        assert_eq!(left.to_vec(&bench.stream).unwrap(), [0]);
    }
    bench.finish_after((executable, left, runs));
}

// Without it the wrong graph could run, or more than one.
#[test]
fn one_graph_of_several_runs() {
    let bench = Bench::open();
    let kernels = kernels(&bench);
    let (mut chosen, mut out) = (number(&bench, 0), number(&bench, 0));
    let mut builder = GraphBuilder::new(&bench.context).unwrap();
    let cleared = builder.fill(&[], &mut out, 99).unwrap();
    let case = builder.condition(ConditionStart::Kept).unwrap();
    // SAFETY: the kernel reads the number.
    let set = unsafe { builder.kernel(&[], &kernels.choose, ONE, (case, &chosen)) }.unwrap();
    let switched = builder.switch(&[cleared, set], case, 3, |case, body| {
        body.fill(&[], &mut out, 10 * case)?;
        Ok::<_, Error>(())
    });
    switched.unwrap();
    let mut executable = builder.finish().instantiate().unwrap();
    for (number, expected) in [(0, 0), (2, 20), (1, 10), (3, 99)] {
        ops::fill(&mut chosen, number, &bench.stream).unwrap();
        executable.launch(&bench.stream).unwrap();
        assert_eq!(out.to_vec(&bench.stream).unwrap(), [expected]);
    }
    drop(executable);

    // An IF in an IF with an ELSE.
    let mut builder = GraphBuilder::new(&bench.context).unwrap();
    let outer = builder.condition(ConditionStart::Value(0)).unwrap();
    // SAFETY: the kernel reads the number.
    let set = unsafe { builder.kernel(&[], &kernels.choose, ONE, (outer, &chosen)) }.unwrap();
    let mut second = number(&bench, 0);
    let out_again = &mut out;
    let mut inner_out = number(&bench, 0);
    let decided = builder.when_else(
        &[set],
        outer,
        |body| {
            let inner = body.condition(ConditionStart::Value(1))?;
            let filled = body.fill(&[], &mut second, 1)?;
            body.when(&[filled], inner, |deepest| {
                deepest.fill(&[], &mut inner_out, 7)?;
                Ok::<_, Error>(())
            })?;
            Ok(())
        },
        |otherwise| {
            otherwise.fill(&[], out_again, 2)?;
            Ok::<_, Error>(())
        },
    );
    decided.unwrap();
    let mut executable = builder.finish().instantiate().unwrap();
    for (number, expected) in [(0, [0, 0, 2]), (1, [1, 7, 0])] {
        for buffer in [&mut second, &mut inner_out, &mut out] {
            ops::fill(buffer, 0, &bench.stream).unwrap();
        }
        ops::fill(&mut chosen, number, &bench.stream).unwrap();
        executable.launch(&bench.stream).unwrap();
        let found = [&second, &inner_out, &out].map(|it| it.to_vec(&bench.stream).unwrap()[0]);
        assert_eq!(found, expected);
    }
    bench.finish_after((executable, kernels, chosen, out, second, inner_out));
}

// Without it a condition could be used where the driver does not expect it, or pinned memory leave with a
// builder that was put in another's place.
#[test]
fn what_a_conditional_node_cannot_have_is_refused() {
    let bench = Bench::open();
    let mut out = number(&bench, 0);
    let invalid = |field: &str, done: Result<(), Error>| match done {
        Err(Error::Invalid { field: found, .. }) => assert_eq!(found, field),
        other => panic!("{other:?}"),
    };
    let mut one = GraphBuilder::new(&bench.context).unwrap();
    let mut two = GraphBuilder::new(&bench.context).unwrap();
    let foreign = two.condition(ConditionStart::Kept).unwrap();
    let nothing = |_: &mut GraphBuilder| Ok::<_, Error>(());
    invalid("condition", one.when(&[], foreign, nothing).map(drop));
    let condition = one.condition(ConditionStart::Value(1)).unwrap();
    let none = one.switch(&[], condition, 0, |_, _| Ok::<_, Error>(()));
    invalid("cases", none.map(drop));
    let outside = one.empty(&[]).unwrap();
    let node = one.when(&[], condition, |body| {
        invalid("after", body.empty(&[outside]).map(drop));
        invalid("condition", body.when(&[], condition, nothing).map(drop));
        let pinned = bench.context.buffers().pinned::<u32>(1)?;
        invalid("body", body.upload(&[], pinned, &mut out).map(drop));
        body.fill(&[], &mut out, 6)?;
        Ok::<_, Error>(())
    });
    let node = node.unwrap();
    let graph = one.finish();
    let mut executable = graph.instantiate().unwrap();
    invalid("node", executable.set_enabled(node, false));
    executable.launch(&bench.stream).unwrap();
    assert_eq!(out.to_vec(&bench.stream).unwrap(), [6]);
    // The error of a body is that of the node.
    let condition = two.condition(ConditionStart::Kept).unwrap();
    let refused = two.when(&[], condition, |_| Err(Error::ShutDown { kind: "a test" }));
    assert!(matches!(refused, Err(Error::ShutDown { .. })));
    bench.finish_after((graph, executable, two, out));
}
