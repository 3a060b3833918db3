//! What hostile or unusual code must not do: reach outside its registers, never give way,
//! or take memory without end.

use crate::device::{Device, HEADER, kernel, run};
use cupola_sim::exec::{FaultKind, LaunchError, LaunchOptions, Program};
use cupola_sim::ptx::Module;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

const NAMES: &str = ".reg .pred %q<8>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .b16 %h<8>;";

/// Whether the engine refuses a kernel with this one instruction.
fn refused(instruction: &str, functions: &str) -> bool {
    let text = format!("{HEADER}{functions}.visible .entry k() {{ {NAMES}\n{instruction}\nret; }}");
    let module = Module::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    match Program::load(&module, &mut Device::default()) {
        Ok(program) => program.kernel("k").is_err(),
        Err(_) => true,
    }
}

/// Without it, an opcode's decoder that takes a predicate for a register of 32 lanes lets
/// PTX read and write 128 bytes where there are 4.
#[test]
fn predicates_are_not_registers_of_words() {
    for instruction in [
        "lop3.pred %q1, %q2, %q3, %q4, 0x1a;",
        "prmt.pred %q1, %q2, %q3, %r1;",
        "bmsk.clamp.pred %q1, %q2, %q3;",
        "szext.clamp.pred %q1, %q2, %r1;",
        "fns.pred %q1, %r1, %r2, %r3;",
        "dp4a.pred.pred %r1, %q2, %q3, %r4;",
        "dp2a.lo.pred.u32 %r1, %q2, %r3, %r4;",
        "shf.l.wrap.pred %q1, %q2, %q3, %r1;",
        "shl.pred %q1, %q2, 9;",
        "shr.pred %q1, %q2, 9;",
        "shl.pred %q1, %q2, %r1;",
        "shfl.sync.idx.pred %q1, %q2, 0, 31, -1;",
        "activemask.pred %q1;",
        "match.any.sync.pred %r1, %q1, -1;",
        "ld.global.pred %q1, [%d1];",
        "st.global.pred [%d1], %q1;",
        "cvt.u32.pred %r1, %q1;",
        "popc.pred %r1, %q1;",
        "bfi.pred %q1, %q2, %q3, 0, 1;",
        "add.pred %q1, %q2, %q3;",
        "min.pred %q1, %q2, %q3;",
        "redux.sync.add.pred %q1, %q2, -1;",
        "setp.eq.pred %q1, %q2, %q3;",
        "selp.pred %q1, %q2, %q3, %q4;",
    ] {
        assert!(refused(instruction, ""), "{instruction}");
    }
    let callee = ".func f(.reg .pred %x) { ret; }\n";
    assert!(refused("call f, (%q1);", callee));
    let result = ".func (.reg .pred %x) f() { ret; }\n";
    assert!(refused("call (%q1), f;", result));
    // The same without predicates is fine.
    assert!(!refused("lop3.b32 %r1, %r2, %r3, %r4, 0x1a;", ""));
    assert!(!refused("shl.b32 %r1, %r2, 33;", ""));
    assert!(!refused("selp.b64 %d1, %d2, %d3, %q4;", ""));
}

/// Without it, 32-bit operations take the first half of 64-bit registers for all of them.
#[test]
fn words_are_not_double_words() {
    for instruction in [
        "lop3.b64 %d1, %d2, %d3, %d4, 0x1a;",
        "prmt.b64 %d1, %d2, %d3, %r1;",
        "shfl.sync.idx.b64 %d1, %d2, 0, 31, -1;",
        "shf.l.wrap.b64 %d1, %d2, %d3, %r1;",
        "bmsk.clamp.b64 %d1, %d2, %d3;",
        "activemask.b64 %d1;",
        "fns.b64 %d1, %r1, %r2, %r3;",
    ] {
        assert!(refused(instruction, ""), "{instruction}");
    }
}

const ENDLESS: &str = "again: bar.sync 0; bra again;";

/// Without it, a barrier in an endless loop keeps its worker for ever, whatever the budget.
#[test]
fn a_barrier_in_a_loop_uses_up_the_budget() {
    let text = format!("{HEADER}.visible .entry k() {{ {ENDLESS} }}");
    let mut device = Device::default();
    let k = kernel(&mut device, &text, "k", false);
    let options = LaunchOptions {
        budget: 100_000,
        ..LaunchOptions::default()
    };
    match run(&device, &k, (2, 96), &[], options) {
        Err(LaunchError::Fault(fault)) => assert_eq!(fault.kind, FaultKind::Budget),
        other => panic!("{other:?}"),
    }
}

/// Without it, a launch with such a loop cannot be cancelled.
#[test]
fn a_barrier_in_a_loop_can_be_cancelled() {
    let text = format!("{HEADER}.visible .entry k() {{ {ENDLESS} }}");
    let mut device = Device::default();
    let k = kernel(&mut device, &text, "k", false);
    let cancel = AtomicBool::new(false);
    let options = LaunchOptions {
        cancel: Some(&cancel),
        ..LaunchOptions::default()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            cancel.store(true, Relaxed);
        });
        match run(&device, &k, (1, 64), &[], options) {
            Err(LaunchError::Fault(fault)) => assert_eq!(fault.kind, FaultKind::Cancelled),
            other => panic!("{other:?}"),
        }
    });
}

/// Without it, the first of two blocks that wait for each other in a loop with a barrier
/// keeps the other from ever starting.
#[test]
fn blocks_that_wait_with_barriers_meet_on_one_worker() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{ {NAMES}
        ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.eq.u32 %q1, %r1, 0;
        @%q1 red.global.add.u32 [%d1], 1;
        again: bar.sync 0; ld.volatile.global.u32 %r2, [%d1]; bar.sync 0;
        setp.lt.u32 %q2, %r2, 3; @%q2 bra again;
        ret; }}"
    );
    let mut device = Device::default();
    let k = kernel(&mut device, &text, "k", false);
    let p = device.alloc_len(4);
    let options = LaunchOptions {
        budget: 1 << 26,
        ..LaunchOptions::default()
    };
    run(&device, &k, (3, 64), &[p], options).unwrap();
    assert_eq!(device.read_u32(p, 1), [3]);
}

/// Without it, lanes of a warp that branch backward by a table never let the others run.
#[test]
fn backward_branches_by_table_give_way() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{ {NAMES}
        list: .branchtargets again, out;
        ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.eq.u32 %q1, %r1, 1; @%q1 bra set;
        again: ld.volatile.global.u32 %r2, [%d1]; brx.idx %r2, list;
        out: ret;
        set: mov.u32 %r3, 1; st.volatile.global.u32 [%d1], %r3; ret; }}"
    );
    let mut device = Device::default();
    let k = kernel(&mut device, &text, "k", false);
    let p = device.alloc_len(4);
    let options = LaunchOptions {
        budget: 1 << 24,
        ..LaunchOptions::default()
    };
    run(&device, &k, (1, 32), &[p], options).unwrap();
}

/// Without it, every branch by a table has a copy of the table and an edge for each entry:
/// gigabytes for a program of a megabyte.
#[test]
fn tables_are_shared() {
    use std::fmt::Write;
    let count = 12_000;
    let mut text = format!("{HEADER}.visible .entry k(.param .u64 p) {{ {NAMES} mov.u32 %r1, 7;\n");
    let names: Vec<String> = (0..count).map(|k| format!("L{k}")).collect();
    writeln!(text, "list: .branchtargets {};", names.join(", ")).unwrap();
    for name in &names {
        writeln!(
            text,
            "{name}: add.u32 %r1, %r1, 1; setp.ge.u32 %q1, %r1, {count};"
        )
        .unwrap();
        writeln!(text, "@%q1 bra out; brx.idx %r1, list;").unwrap();
    }
    text += "out: ld.param.u64 %d1, [p]; st.global.u32 [%d1], %r1; ret; }";
    let mut device = Device::default();
    let k = kernel(&mut device, &text, "k", false);
    let p = device.alloc_len(4);
    run(&device, &k, (1, 1), &[p], LaunchOptions::default()).unwrap();
    assert_eq!(device.read_u32(p, 1), [count]);
}

/// Without it, recursion takes as much host memory for registers as depth and the size of a
/// frame allow: gigabytes for each warp.
#[test]
fn frames_have_a_limit() {
    let text = format!(
        "{HEADER}.func f() {{ .reg .b32 %x<3000>; {} call f, (); ret; }}
        .visible .entry k() {{ call f, (); ret; }}",
        (0..3000).fold(String::new(), |text, k| text
            + &format!("mov.u32 %x{k}, {k};"))
    );
    let mut device = Device::default();
    let k = kernel(&mut device, &text, "k", false);
    match run(&device, &k, (1, 32), &[], LaunchOptions::default()) {
        Err(LaunchError::Fault(fault)) => assert_eq!(fault.kind, FaultKind::StackOverflow),
        other => panic!("{other:?}"),
    }
}

/// Without it, `cnot.b64` writes 32 results of 32 bits into a register of 64-bit ones.
#[test]
fn a_double_word_is_zero_or_not() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{ {NAMES}
        ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 0x10000000;
        and.b64 %d2, %d2, 0x700000000; cnot.b64 %d3, %d2;
        mad.wide.u32 %d1, %r1, 8, %d1; st.global.u64 [%d1], %d3; ret; }}"
    );
    let mut device = Device::default();
    let k = kernel(&mut device, &text, "k", false);
    let p = device.alloc_len(256);
    run(&device, &k, (1, 32), &[p], LaunchOptions::default()).unwrap();
    let want: Vec<u32> = (0..32).flat_map(|t| [u32::from(t < 16), 0]).collect();
    assert_eq!(device.read_u32(p, 64), want);
}
