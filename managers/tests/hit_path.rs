//! What a hit executes, instruction by instruction.
//!
//! A second process of this test warms a pool and works between markers (`int3`), traced by the
//! first (`ptrace`), which steps through and looks at each instruction before it runs: no driver
//! call, no lock and no atomic read-modify-write is what the pool's documentation claims.
#![cfg(all(target_os = "linux", target_arch = "x86_64", not(loom)))]

use std::arch::asm;
use std::hint::black_box;
use std::process::{Command, Stdio};

use cupola_managers::{Buffer, ExecutionManager, MemoryPool, PoolConfig, Stream};
use cupola_sim::{Machine, Strict};

const CHILD: &str = "CUPOLA_TEST_HIT_PATH";
/// Pairs of an allocation and a free between two markers.
const PAIRS: u64 = 16;
/// The child may not be traced.
const REFUSED: i32 = 77;

/// What was executed between two markers: instructions, those of them with a `lock` prefix or an
/// `xchg` with memory, and system calls.
type Executed = [u64; 3];

/// What one instruction is, by its first bytes.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Locked,
    Call,
    Marker,
    Other,
}

fn kind(code: [u8; 16]) -> Kind {
    let mut at = 0;
    let mut locked = false;
    // Operand and address size, segments, repetition, lock.
    const PREFIXES: [u8; 11] = [
        0x66, 0x67, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0xf2, 0xf3, 0xf0,
    ];
    while at < 13 && PREFIXES.contains(&code[at]) {
        locked |= code[at] == 0xf0;
        at += 1;
    }
    // REX.
    if code[at] & 0xf0 == 0x40 {
        at += 1;
    }
    match (code[at], code[at + 1]) {
        _ if locked => Kind::Locked,
        // An exchange with memory is locked without saying so.
        (0x86 | 0x87, operands) if operands >> 6 != 3 => Kind::Locked,
        (0x0f, 0x05 | 0x34) | (0xcd, 0x80) => Kind::Call,
        (0xcc, _) => Kind::Marker,
        _ => Kind::Other,
    }
}

// Without it a locked instruction could be taken for another.
#[test]
fn instructions_are_known_by_their_bytes() {
    let cases: [(&[u8], Kind); 9] = [
        (&[0xf0, 0x48, 0x0f, 0xc1, 0x07], Kind::Locked), // lock xadd [rdi], rax
        (&[0x66, 0xf0, 0x0f, 0xb1, 0x0f], Kind::Locked), // lock cmpxchg [rdi], cx
        (&[0x48, 0x87, 0x07], Kind::Locked),             // xchg [rdi], rax
        (&[0x86, 0x07], Kind::Locked),                   // xchg [rdi], al
        (&[0x48, 0x87, 0xc7], Kind::Other),              // xchg rdi, rax
        (&[0x66, 0x90], Kind::Other),                    // nop
        (&[0x48, 0x8b, 0x07], Kind::Other),              // mov rax, [rdi]
        (&[0x0f, 0x05], Kind::Call),                     // syscall
        (&[0xcc], Kind::Marker),                         // int3
    ];
    for (bytes, expected) in cases {
        let mut code = [0; 16];
        code[..bytes.len()].copy_from_slice(bytes);
        assert_eq!(kind(code), expected, "{bytes:x?}");
    }
}

fn mark() {
    // SAFETY: stops for the tracer, which goes on behind it; changes nothing.
    unsafe { asm!("int3", options(nomem, nostack, preserves_flags)) };
}

fn raw(pool: &MemoryPool, bytes: u64, stream: &Stream) {
    let block = pool.allocate_raw(black_box(bytes), 256, stream).unwrap();
    // SAFETY: nothing uses it.
    unsafe { black_box(block).free(stream) }.unwrap();
}

fn typed(pool: &MemoryPool, bytes: u64, stream: &Stream) {
    let buffer: Buffer<u8> = pool.allocate(black_box(bytes as usize), stream).unwrap();
    drop(black_box(buffer));
}

/// What is done with so many bytes.
type Work = fn(&MemoryPool, u64, &Stream);

/// What is between the first markers, the second, and so on.
const WORK: [(&str, Work, u64); 6] = [
    ("allocate_raw and free, 1 KiB", raw, 1 << 10),
    ("allocate_raw and free, 1 MiB", raw, 1 << 20),
    ("allocate and drop, 1 KiB", typed, 1 << 10),
    ("allocate and drop, 1 MiB", typed, 1 << 20),
    ("the same while recorded, 1 KiB", raw, 1 << 10),
    ("the same while recorded, 1 MiB", raw, 1 << 20),
];
/// From here on the pool is recorded, which is off the hit path.
const RECORDED: usize = 4;

// Not a test of its own: what the other process does.
#[test]
fn the_traced_process() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    // As a GPU's driver, which is told nothing of blocks.
    let machine = Machine::builder().worker_threads(1).strict(Strict::empty());
    let machine = machine.build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(64 << 20)).unwrap();
    // SAFETY: takes no pointers; this thread is traced by the process that made this one.
    if unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } != 0 {
        std::process::exit(REFUSED);
    }
    for (at, (_, work, bytes)) in WORK.into_iter().enumerate() {
        if at == RECORDED {
            pool.record(1 << 10).unwrap();
        }
        // Until the thread has leases of the stream in stock, too.
        for _ in 0..PAIRS {
            work(&pool, bytes, &stream);
        }
        let before = pool.usage().unwrap();
        mark();
        for _ in 0..PAIRS {
            work(&pool, bytes, &stream);
        }
        mark();
        let after = pool.usage().unwrap();
        assert_eq!(after.allocations, before.allocations + PAIRS);
        assert_eq!((after.misses, after.spills), (before.misses, before.spills));
    }
}

/// A thread of another process that this thread traces.
struct Traced(libc::pid_t);

impl Traced {
    /// Waits for any thread of the child: which it was, and its status.
    fn wait() -> (libc::pid_t, i32) {
        let mut status = 0;
        // SAFETY: `status` outlives the call.
        let thread = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) };
        assert!(thread > 0, "{}", std::io::Error::last_os_error());
        (thread, status)
    }

    fn go_on(&self, how: libc::c_uint) {
        // SAFETY: the thread is stopped; no signal is passed on.
        let done = unsafe { libc::ptrace(how, self.0, 0, 0) };
        assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
    }

    /// Reads a word; 0 where there is none.
    fn word(&self, what: libc::c_uint, at: u64) -> u64 {
        // SAFETY: the thread is stopped; nothing is written, and an address that is not readable
        // is an error.
        let word = unsafe { libc::ptrace(what, self.0, at, 0) };
        // -1 is an error, or a word that is no code and no address.
        if word == -1 { 0 } else { word as u64 }
    }

    /// What the thread executes next.
    fn next(&self) -> Kind {
        let rip = std::mem::offset_of!(libc::user_regs_struct, rip) as u64;
        let at = self.word(libc::PTRACE_PEEKUSER, rip);
        let both = [0, 8].map(|more| self.word(libc::PTRACE_PEEKTEXT, at + more).to_le_bytes());
        kind(both.concat().try_into().unwrap())
    }

    /// From behind a marker to behind the next one, step by step.
    fn count(&self) -> Executed {
        let mut executed = [0; 3];
        loop {
            let next = self.next();
            self.go_on(libc::PTRACE_SINGLESTEP);
            // Others of its threads are not traced.
            let (thread, status) = Self::wait();
            let stop = (thread, libc::WIFSTOPPED(status), libc::WSTOPSIG(status));
            assert_eq!(stop, (self.0, true, libc::SIGTRAP), "{status:#x}");
            if next == Kind::Marker {
                return executed;
            }
            let is_one = [true, next == Kind::Locked, next == Kind::Call];
            for (count, is_one) in executed.iter_mut().zip(is_one) {
                *count += u64::from(is_one);
            }
        }
    }
}

// Without it a change could put a lock, an atomic read-modify-write or a system call on the way of
// every hit, and only a benchmark on many threads would show it.
#[test]
#[expect(
    clippy::zombie_processes,
    reason = "waited for by `waitpid`, as its threads are"
)]
fn a_hit_executes_no_locked_instruction_and_no_system_call() {
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_traced_process"])
        .env(CHILD, "1")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut counts = Vec::new();
    loop {
        let (thread, status) = Traced::wait();
        if libc::WIFSTOPPED(status) {
            assert_eq!(libc::WSTOPSIG(status), libc::SIGTRAP, "{status:#x}");
            let traced = Traced(thread);
            counts.push(traced.count());
            traced.go_on(libc::PTRACE_CONT);
        } else if thread == child.id().cast_signed() {
            if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == REFUSED {
                println!(
                    "SKIPPED: this process may not trace another (ptrace): NOTHING WAS CHECKED"
                );
                return;
            }
            assert_eq!(status, 0, "the traced process has failed");
            break;
        }
    }
    assert_eq!(counts.len(), WORK.len());
    for ((name, ..), counted) in WORK.iter().zip(&counts) {
        let each = counted.map(|count| count as f64 / PAIRS as f64);
        println!("{name}: instructions, locked ones and system calls of each: {each:?}");
    }
    for [instructions, locked, calls] in &counts[..RECORDED] {
        assert!(*instructions > PAIRS * 20, "{counts:?}");
        assert_eq!((*locked, *calls), (0, 0), "{counts:?}");
    }
    // What does lock is seen.
    for [_, locked, _] in &counts[RECORDED..] {
        assert!(*locked >= PAIRS, "{counts:?}");
    }
}
