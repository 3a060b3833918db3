//! Faults name the right thing, and bad code is an error of its function only.

use crate::device::{Device, HEADER, kernel, pack, run};
use cupola_sim::exec::{
    Fault, FaultKind, KernelError, LaunchConfig, LaunchError, LaunchOptions, Program, launch,
};
use cupola_sim::ptx::Module;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::time::Duration;

/// The fault of a kernel with parameters p (64 words) and n. The body begins at
/// line 7 of the text.
fn fault_of(body: &str, shape: (u32, u32), n: u64, options: LaunchOptions<'_>) -> Fault {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p, .param .u32 n) {{
.reg .b32 %t, %n, %r<4>; .reg .b64 %p, %w; .reg .pred %q<4>;
ld.param.u64 %p, [p]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x;
{body}
ret; }}"
    );
    let mut device = Device::default();
    let p = device.alloc_len(256);
    let k = kernel(&mut device, &text, "k", false);
    match run(&device, &k, shape, &[p, n], options) {
        Err(LaunchError::Fault(fault)) => *fault,
        other => panic!("a fault is expected, not {other:?}"),
    }
}

/// Breaks if bounds or alignment are not checked, or the report is wrong.
#[test]
fn memory_faults_name_line_and_thread() {
    let access = "mad.wide.u32 %w, %t, 4, %p;\nst.global.u32 [%w], %t;";
    let fault = fault_of(access, (1, 96), 0, LaunchOptions::default());
    assert_eq!(
        (fault.kind.clone(), fault.line, fault.thread),
        (FaultKind::IllegalAddress, 8, [64, 0, 0])
    );
    assert_eq!(fault.address.map(|a| a & 0xffff), Some(256));
    let text = fault.to_string();
    assert!(text.starts_with("illegal address 0x7100"), "{text}");
    assert!(
        text.ends_with("in kernel k (function k, PTX line 8), block (0,0,0), thread (64,0,0)"),
        "{text}"
    );
    // One lane of many.
    let one = "setp.eq.u32 %q1, %t, 37;\n@%q1 add.s64 %p, %p, 2;\nld.global.u32 %r1, [%p];";
    let fault = fault_of(one, (3, 64), 0, LaunchOptions::default());
    assert_eq!(
        (fault.kind, fault.line, fault.thread),
        (FaultKind::MisalignedAddress, 9, [37, 0, 0])
    );
    // A vector access must be aligned as a whole.
    let fault = fault_of(
        "ld.global.v2.u32 {%r1, %r2}, [%p+4];",
        (1, 1),
        0,
        LaunchOptions::default(),
    );
    assert_eq!(fault.kind, FaultKind::MisalignedAddress);
    // Null, shared and local memory.
    let fault = fault_of(
        "mov.u64 %w, 0;\nld.u32 %r1, [%w];",
        (1, 1),
        0,
        LaunchOptions::default(),
    );
    assert_eq!(
        (fault.kind, fault.address),
        (FaultKind::IllegalAddress, Some(0))
    );
    let shared = ".shared .align 4 .b8 s[64];\nmul.wide.u32 %w, %t, 4;\nst.shared.u32 [%w], %t;";
    let fault = fault_of(shared, (1, 32), 0, LaunchOptions::default());
    assert_eq!(
        (fault.kind, fault.line, fault.thread[0]),
        (FaultKind::IllegalAddress, 9, 16)
    );
    let local = ".local .align 4 .b8 l[16];\nst.local.u32 [l+16], %t;";
    assert_eq!(
        fault_of(local, (1, 32), 0, LaunchOptions::default()).kind,
        FaultKind::IllegalAddress
    );
    let atom = "atom.global.add.u32 %r1, [%p+256], 1;";
    assert_eq!(
        fault_of(atom, (1, 32), 0, LaunchOptions::default()).kind,
        FaultKind::IllegalAddress
    );
}

#[test]
fn read_only_memory_is_not_written() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{ .reg .b64 %p; .reg .b32 %r; ld.param.u64 %p, [p]; ld.global.u32 %r, [%p]; st.global.u32 [%p], %r; ret; }}"
    );
    let mut device = Device::default();
    let p = device.alloc_len(16);
    device.protect(p);
    let k = kernel(&mut device, &text, "k", false);
    let result = run(&device, &k, (1, 32), &[p], LaunchOptions::default());
    assert!(matches!(result, Err(LaunchError::Fault(f)) if f.kind == FaultKind::IllegalAddress));
}

#[test]
fn traps_deadlocks_and_limits() {
    let trap = "setp.eq.u32 %q1, %t, 5;\n@%q1 trap;";
    let fault = fault_of(trap, (1, 32), 0, LaunchOptions::default());
    assert_eq!(
        (fault.kind, fault.line, fault.thread[0]),
        (FaultKind::Trap, 8, 5)
    );
    let deadlock = "setp.lt.u32 %q1, %t, 32;\n@%q1 bar.sync 1, 64;\n@!%q1 bar.sync 2, 64;";
    let fault = fault_of(deadlock, (1, 64), 0, LaunchOptions::default());
    let waits = "threads 0-31 at barrier 1 (PTX line 8), where 32 of 64 came; \
        threads 32-63 at barrier 2 (PTX line 9), where 32 of 64 came";
    assert_eq!(
        (fault.kind, fault.line),
        (FaultKind::Deadlock(waits.into()), 8)
    );
    let missing = "setp.lt.u32 %q1, %t, 16;\n@%q1 shfl.sync.idx.b32 %r1, %t, 0, 31, -1;\n@%q1 exit;\nbar.sync 3, 64;";
    let waits = "threads 0-15 for other lanes of their warp (PTX line 8); \
        threads 16-31 at barrier 3 (PTX line 10), where 16 of 64 came";
    assert_eq!(
        fault_of(missing, (1, 32), 0, LaunchOptions::default()).kind,
        FaultKind::Deadlock(waits.into())
    );
    let endless = "l: bra l;";
    let budget = LaunchOptions {
        budget: 100_000,
        ..LaunchOptions::default()
    };
    assert_eq!(fault_of(endless, (1, 1), 0, budget).kind, FaultKind::Budget);
    let cancel = AtomicBool::new(true);
    let cancelled = LaunchOptions {
        cancel: Some(&cancel),
        ..LaunchOptions::default()
    };
    assert_eq!(
        fault_of(endless, (1, 1), 0, cancelled).kind,
        FaultKind::Cancelled
    );
    assert_eq!(
        fault_of("bar.sync 16;", (1, 1), 0, LaunchOptions::default()).kind,
        FaultKind::IllegalInstruction
    );
}

/// A body that calls printf with these addresses.
fn printing(format: &str, args: &str) -> String {
    format!(
        "{HEADER}.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
        .global .b8 fmt[3] = {{37, 100, 0}};
        .visible .entry k() {{ .reg .b64 %a, %f; mov.u64 %f, {format}; mov.u64 %a, {args};
        {{ .param .b64 p0; .param .b64 p1; .param .b32 r; st.param.b64 [p0], %f; st.param.b64 [p1], %a;
        call.uni (r), vprintf, (p0, p1); }} ret; }}"
    )
}

/// Breaks if the arithmetic on a kernel's pointers overflows.
#[test]
fn wild_pointers_of_printf_are_faults() {
    for (format, args) in [("fmt", "-1"), ("fmt", "-4"), ("fmt", "0"), ("-1", "0")] {
        let mut device = Device::default();
        let k = kernel(&mut device, &printing(format, args), "k", false);
        match run(&device, &k, (1, 1), &[], LaunchOptions::default()) {
            Err(LaunchError::Fault(fault)) => {
                assert_eq!(fault.kind, FaultKind::IllegalAddress, "{format}, {args}");
            }
            other => panic!("a fault is expected, not {other:?}"),
        }
    }
}

/// Breaks if only blocks that outlast their slice look whether to go on.
#[test]
fn a_huge_grid_of_empty_blocks_can_be_stopped() {
    // Without the check this would take minutes; nothing else depends on the time.
    const TOO_LONG: Duration = Duration::from_secs(60);
    static CANCEL: AtomicBool = AtomicBool::new(false);
    let start = |options: LaunchOptions<'static>| {
        let (send, receive) = channel();
        std::thread::spawn(move || {
            let mut device = Device::default();
            let text = format!("{HEADER}.visible .entry k() {{ ret; }}");
            let k = kernel(&mut device, &text, "k", false);
            let grid = i32::MAX.cast_unsigned();
            // The receiver is gone only if the test has failed already.
            let _ = send.send(run(&device, &k, (grid, 1), &[], options));
        });
        receive
    };
    let kind = |result| match result {
        Err(LaunchError::Fault(fault)) => fault.kind,
        other => panic!("a fault is expected, not {other:?}"),
    };
    let cancelled = start(LaunchOptions {
        workers: 2,
        cancel: Some(&CANCEL),
        ..LaunchOptions::default()
    });
    std::thread::sleep(Duration::from_millis(20));
    CANCEL.store(true, Relaxed);
    let result = cancelled.recv_timeout(TOO_LONG).expect("it goes on");
    assert_eq!(kind(result), FaultKind::Cancelled);
    let spent = start(LaunchOptions {
        budget: 1000,
        ..LaunchOptions::default()
    });
    let result = spent.recv_timeout(TOO_LONG).expect("it goes on");
    assert_eq!(kind(result), FaultKind::Budget);
}

#[test]
fn endless_recursion_is_a_fault() {
    let text = format!(
        "{HEADER}.func f() {{ .local .b8 room[64]; call f; ret; }}
        .visible .entry k() {{ call f; ret; }}"
    );
    let mut device = Device::default();
    let k = kernel(&mut device, &text, "k", false);
    let result = run(&device, &k, (1, 32), &[], LaunchOptions::default());
    assert!(
        matches!(result, Err(LaunchError::Fault(f)) if f.kind == FaultKind::StackOverflow && f.function == "f")
    );
}

#[test]
fn failed_assertions_carry_their_text() {
    let data = |s: &str| {
        s.bytes()
            .chain([0])
            .map(|b| b.to_string())
            .collect::<Vec<_>>()
            .join(",")
    };
    let text = format!(
        "{HEADER}.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 fn, .param .b64 s);
        .global .b8 m[6] = {{{}}}; .global .b8 f[5] = {{{}}}; .global .b8 g[5] = {{{}}};
        .visible .entry k() {{ .reg .b64 %m, %f, %g; mov.u64 %m, m; mov.u64 %f, f; mov.u64 %g, g;
        call.uni __assertfail, (%m, %f, 12, %g, 1); ret; }}",
        data("x > 0"), data("a.cu"), data("main")
    );
    let mut device = Device::default();
    let k = kernel(&mut device, &text, "k", false);
    let Err(LaunchError::Fault(fault)) = run(&device, &k, (1, 1), &[], LaunchOptions::default())
    else {
        panic!("a fault is expected");
    };
    assert_eq!(fault.kind, FaultKind::Assert("x > 0, a.cu:12, main".into()));
}

/// Breaks if an unknown instruction spoils functions that do not reach it.
#[test]
fn unknown_instructions_are_their_kernels_errors() {
    let text = format!(
        "{HEADER}.func bad() {{
wgmma.fence.sync.aligned;
ret; }}
.visible .entry good() {{ ret; }}
.visible .entry direct() {{ .reg .b32 %r; add.u32.weird %r, %r, %r; ret; }}
.visible .entry through() {{ call bad; ret; }}
.visible .entry undeclared() {{ mov.u32 %x, 1; ret; }}"
    );
    let module = Module::parse(&text).unwrap();
    let mut device = Device::default();
    let program = Program::load(&module, &mut device).unwrap();
    assert!(program.kernel("good").is_ok());
    assert_eq!(
        program.kernel("none").unwrap_err(),
        KernelError::NotFound("none".into())
    );
    let text = program.kernel("through").unwrap_err().to_string();
    assert_eq!(
        text,
        "kernel through cannot run: PTX line 5 in bad: wgmma.fence.sync.aligned: unknown opcode"
    );
    let text = program.kernel("direct").unwrap_err().to_string();
    assert!(
        text.contains("line 8") && text.contains("add.u32.weird") && text.contains(".weird"),
        "{text}"
    );
    assert!(
        program
            .kernel("undeclared")
            .unwrap_err()
            .to_string()
            .contains("%x is not a register")
    );
}

#[test]
fn launches_are_checked() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p) .reqntid 32 {{ ret; }} .visible .entry free() .maxntid 64, 2 {{ ret; }}"
    );
    let module = Module::parse(&text).unwrap();
    let mut device = Device::default();
    let program = Program::load(&module, &mut device).unwrap();
    let (k, free) = (
        program.kernel("k").unwrap(),
        program.kernel("free").unwrap(),
    );
    assert_eq!((k.max_threads, free.max_threads), (32, 128));
    let try_it = |k: &cupola_sim::exec::Kernel,
                  grid: [u32; 3],
                  block: [u32; 3],
                  shared: u32,
                  params: &[u8]| {
        let config = LaunchConfig {
            grid,
            block,
            dynamic_shared: shared,
        };
        launch(k, config, params, &device, LaunchOptions::default())
    };
    let params = pack(&k, &[0]);
    let config = |r: Result<_, LaunchError>| matches!(r, Err(LaunchError::Config(_)));
    assert!(try_it(&k, [1, 1, 1], [32, 1, 1], 0, &params).is_ok());
    assert!(config(try_it(&k, [1, 1, 1], [16, 1, 1], 0, &params)));
    assert!(config(try_it(&k, [1, 1, 1], [32, 1, 1], 0, &params[..4])));
    assert!(config(try_it(&k, [0, 1, 1], [32, 1, 1], 0, &params)));
    assert!(config(try_it(&k, [1, 70_000, 1], [32, 1, 1], 0, &params)));
    assert!(config(try_it(&free, [1, 1, 1], [129, 1, 1], 0, &[])));
    assert!(config(try_it(&free, [1, 1, 1], [1, 1, 1], 300_000, &[])));
    let most = LaunchOptions::default().max_shared;
    assert!(try_it(&free, [1, 1, 1], [1, 1, 1], most, &[]).is_ok());
    assert!(config(try_it(&free, [1, 1, 1], [1, 1, 1], most + 1, &[])));
    assert!(try_it(&free, [2, 3, 4], [8, 4, 2], 1000, &[]).is_ok_and(|s| s.blocks == 24));
}

/// Without it, a fault after lanes have met again is told as one of the kernel's own code.
#[test]
fn a_fault_after_a_join_names_its_function() {
    let text = format!(
        "{HEADER}.func f(.reg .b32 %t) {{ .reg .pred %q; .reg .b32 %x;
setp.lt.u32 %q, %t, 7; @%q bra low; mov.u32 %x, 1; bra both; low: mov.u32 %x, 2;
both: trap; }}
.visible .entry k() {{ .reg .b32 %t; mov.u32 %t, %tid.x; call f, (%t); ret; }}"
    );
    let mut device = Device::default();
    let k = kernel(&mut device, &text, "k", false);
    match run(&device, &k, (1, 32), &[], LaunchOptions::default()) {
        Err(LaunchError::Fault(fault)) => assert_eq!(fault.function, "f"),
        other => panic!("{other:?}"),
    }
}
