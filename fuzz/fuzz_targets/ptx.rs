//! Any bytes as PTX, through the parser and the decoder of the software device, and through the look for
//! kernels that wait for the one before them.
#![no_main]

// It is private there, and needs the standard library alone.
#[path = "../../managers/src/module/ptx.rs"]
mod waiting;

use cupola_sim::exec::{Placement, Program, VarSpace};
use cupola_sim::ptx::{Module, Stmt};
use libfuzzer_sys::fuzz_target;

/// Gives out addresses, and holds the loader to them.
#[derive(Default)]
struct Device {
    placed: Vec<(u64, u64)>,
    next: u64,
}

/// More than any real module's variables in a test.
const ROOM: u64 = 1 << 20;

impl Placement for Device {
    fn place(&mut self, _: &str, _: VarSpace, size: u64, align: u64) -> Option<u64> {
        let start = self.next.checked_next_multiple_of(align)?;
        let end = start.checked_add(size).filter(|end| *end <= ROOM)?;
        self.next = end;
        self.placed.push((start, end));
        Some(start)
    }

    fn fill(&mut self, address: u64, bytes: &[u8]) {
        let end = address + bytes.len() as u64;
        let inside = |(start, stop): &(u64, u64)| *start <= address && end <= *stop;
        assert!(
            self.placed.iter().any(inside),
            "a value outside of every variable"
        );
    }
}

fn waits(body: &[Stmt<'_>]) -> bool {
    body.iter().any(|statement| match statement {
        Stmt::Instr(instruction) => instruction.op.to_string() == "griddepcontrol.wait",
        Stmt::Scope(inner) => waits(inner),
        _ => false,
    })
}

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let waiting = waiting::waiting_kernels(&text);
    let module = match Module::parse(&text) {
        Ok(module) => module,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for name in &waiting {
        let mut kernels = module.funcs.iter().filter(|func| func.entry && *func.name == **name);
        let found = kernels.any(|kernel| kernel.body.as_deref().is_some_and(waits));
        assert!(found, "{name} does not wait");
    }
    let program = match Program::load(&module, &mut Device::default()) {
        Ok(program) => program,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for name in program.kernel_names() {
        if let Err(error) = program.kernel(name) {
            assert!(!error.to_string().is_empty());
        }
    }
});
