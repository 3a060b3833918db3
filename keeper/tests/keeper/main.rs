//! A keeper and guests in one process, on the software device. Those of several processes are in
//! `tests/suite/memory/keeper`.
#![cfg(target_os = "linux")]

mod descriptors;
mod forks;
mod model;
mod orders;
mod refills;
mod sleep;
mod strangers;
mod sweep;

use std::os::unix::net::UnixStream;

use cupola_keeper::{Filling, Guest, Keeper, KeeperConfig, Kept, Rights};
use cupola_managers::{Context, ExecutionManager, Stream, ops};
use cupola_sim::Machine;
use cupola_sys::driver::Driver;

const PAGE: u64 = 2 << 20;

struct Bench {
    keeper: Keeper,
    stream: Stream,
    context: Context,
    machine: Machine,
}

impl Bench {
    fn new(config: KeeperConfig) -> Self {
        let machine = Machine::builder().build();
        let driver = machine.driver();
        Self::with_driver(config, machine, driver)
    }

    fn with_driver(config: KeeperConfig, machine: Machine, driver: Driver) -> Self {
        let execution = ExecutionManager::new(driver).unwrap();
        let context = execution.devices().get(0).unwrap().primary().unwrap();
        let stream = context.streams().create(Default::default()).unwrap();
        let keeper = Keeper::new(&context, config).unwrap();
        Self {
            keeper,
            stream,
            context,
            machine,
        }
    }

    fn guest(&self) -> Guest {
        let (ours, theirs) = UnixStream::pair().unwrap();
        self.keeper.serve(ours).unwrap();
        Guest::connect(theirs, &self.context).unwrap()
    }

    /// A sealed object whose bytes have this value.
    fn seal(&self, guest: &Guest, name: &str, bytes: u64, value: u8) -> Kept {
        self.seal_for(guest, name, bytes, value, Rights::Read)
    }

    fn seal_for(&self, guest: &Guest, name: &str, bytes: u64, value: u8, rights: Rights) -> Kept {
        let mut filling = guest.create(name, bytes, rights).unwrap();
        self.fill(&mut filling, value);
        filling.seal(vec![value]).unwrap()
    }

    fn fill(&self, filling: &mut Filling, value: u8) {
        let bytes = filling.bytes() as usize;
        // SAFETY: it is waited for.
        let all = unsafe { filling.slice_mut::<u8>(0..bytes).unwrap() };
        ops::fill(all, value, &self.stream).unwrap();
        ops::synchronize(&self.stream).unwrap();
    }

    fn assert_filled(&self, kept: &Kept, value: u8) {
        let last = kept.bytes() as usize - 1;
        for at in [0, last / 2, last] {
            // SAFETY: it is waited for.
            let byte = unsafe { kept.slice::<u8>(at..at + 1).unwrap() };
            assert_eq!(
                byte.to_vec(&self.stream).unwrap(),
                [value],
                "{kept:?} at {at}"
            );
        }
    }

    fn finish(self) {
        let machine = self.machine.clone();
        drop(self);
        assert_eq!(machine.leaks(), None);
    }
}
