//! What a stream executes.

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::Arc;

use cupola_sys::driver::{CUhostFn, CUresult, CUstream, CUstreamCallback};

use crate::device::contexts::health::{Fault, Health};
use crate::device::graphs::{Condition, UserObject};
use crate::device::machine::Device;
use crate::device::memory::{Block, End, Fill, Rows, Side, Transfer};
use crate::device::operations::branch::Branch;
use crate::device::operations::engine::Direction;
use crate::device::operations::launch::Launch;
use crate::device::operations::value::Step;
use crate::device::schedule::Time;
use crate::device::streams::event::{Moment, Record};

thread_local! {
    /// The machines for which this thread runs a user's function, innermost last.
    static IN_HOST_FUNCTION: RefCell<Vec<MachineId>> = const { RefCell::new(Vec::new()) };
}

/// Tells machines that live at the same time apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::device) struct MachineId(pub(in crate::device) u64);

/// Whether this thread runs a user's function for a stream or a kernel of the machine:
/// calls of its driver are not permitted then. Those of another machine are.
pub(in crate::device) fn in_host_function(machine: MachineId) -> bool {
    // A thread that is ending runs no user's function.
    IN_HOST_FUNCTION
        .try_with(|machines| machines.borrow().contains(&machine))
        .unwrap_or(false)
}

/// A user's pointer, handed back to the user's function.
#[derive(Clone, Copy, Debug)]
pub(in crate::device) struct UserData(pub(in crate::device) *mut c_void);

// SAFETY: it is never dereferenced here; the contract of `cuLaunchHostFunc` is that the
// function may be called with it on another thread.
unsafe impl Send for UserData {}
// SAFETY: a reference gives a copy of the pointer, and no more.
unsafe impl Sync for UserData {}

/// One operation in a stream.
#[derive(Clone, Debug)]
pub(in crate::device) enum Op {
    Copy(Box<Transfer>),
    Fill(Fill),
    Launch(Box<Launch>),
    Record(Arc<Record>),
    Wait(Arc<Record>),
    /// `cuLaunchHostFunc`.
    Host(CUhostFn, UserData),
    /// `cuStreamAddCallback`: the handle is an argument of the function.
    Callback(CUstreamCallback, u64, UserData),
    /// `cuStreamWriteValue`, `cuStreamWaitValue`, and one of a batch of them.
    Value(Step),
    /// Of a graph's launch; the account was charged at the call.
    Alloc(Arc<Block>),
    /// `cuMemFreeAsync`; the account was settled at the call.
    Free(Arc<Block>),
    /// A graph's launch has ended, which kept these.
    Release(Vec<Arc<UserObject>>),
    /// A graph's launch begins, whose conditional nodes have these values.
    Reset(Vec<Arc<Condition>>),
    /// A conditional node. The stream decides it itself, because it puts work into it.
    Branch(Arc<Branch>),
}

impl Op {
    /// Whether it takes so little that an idle stream need not wake its thread for it.
    pub(in crate::device) fn is_instant(&self) -> bool {
        match self {
            Self::Record(_)
            | Self::Alloc(_)
            | Self::Free(_)
            | Self::Release(_)
            | Self::Reset(_) => true,
            Self::Wait(record) => record.is_settled(),
            Self::Value(step) => step.is_write(),
            _ => false,
        }
    }

    /// Whether it is work, which configured delays apply to, and not a mark.
    pub(in crate::device) fn is_work(&self) -> bool {
        matches!(
            self,
            Self::Copy(_) | Self::Fill(_) | Self::Launch(_) | Self::Host(..)
        )
    }

    /// Whether it calls a function of the program, if its context has halted or not.
    pub(in crate::device) fn calls_the_program(&self, halted: bool) -> bool {
        match self {
            Self::Host(function, _) => function.is_some() && !halted,
            Self::Callback(function, ..) => function.is_some(),
            _ => false,
        }
    }

    /// The device memory that it uses, as far as its arguments say for certain: where, and whether
    /// it is written.
    pub(in crate::device) fn rows(&self) -> impl Iterator<Item = (u64, Rows, bool)> {
        let end = |end: &End, writes| match end.side {
            Side::Device(address) => Some((address, end.rows, writes)),
            _ => None,
        };
        let both = match self {
            Self::Copy(copy) => [end(&copy.to, true), end(&copy.from, false)],
            Self::Fill(fill) => [Some((fill.address, fill.rows, true)), None],
            _ => [None, None],
        };
        both.into_iter().flatten()
    }

    /// How many bytes it moves, and which way over the bus.
    pub(in crate::device) fn bytes(&self) -> Option<(Option<Direction>, u64)> {
        match self {
            Self::Copy(copy) => Some((copy.direction, copy.to.rows.bytes())),
            Self::Fill(fill) => Some((None, fill.rows.bytes())),
            _ => None,
        }
    }

    /// [`Op::run`] for the machine's scheduler, at a moment of virtual time.
    pub(in crate::device) fn run_at(
        self,
        device: &Device,
        health: &Health,
        time: Time,
    ) -> Result<(), Fault> {
        match self {
            Self::Record(record) => record.complete(Moment::Virtual(time)),
            // The scheduler has waited.
            Self::Wait(record) => record.check(health)?,
            Self::Value(step) => drop(step.try_now(device, health)?),
            op => op.run(device, health)?,
        }
        Ok(())
    }

    pub(in crate::device) fn run(self, device: &Device, health: &Health) -> Result<(), Fault> {
        match self {
            Self::Copy(copy) => copy.run(device, health)?,
            Self::Fill(fill) => fill.run(device, health)?,
            Self::Launch(launch) => launch.run(device, health)?,
            Self::Record(record) => record.complete(Moment::now()),
            Self::Wait(record) => record.wait_within(health)?,
            Self::Host(Some(function), data) => in_user_code(device.machine, || {
                // SAFETY: the caller of `cuLaunchHostFunc` promised that the function may
                // be called with this argument, once, when the stream gets here.
                unsafe { function(data.0) }
            }),
            Self::Callback(function, stream, data) => {
                call_back(device, function, stream, CUresult::CUDA_SUCCESS, data);
            }
            Self::Value(step) => step.run(device, health)?,
            Self::Alloc(block) => device.space.insert(block),
            Self::Free(block) => device.space.remove(&block),
            Self::Release(objects) => drop(objects),
            Self::Reset(conditions) => conditions.iter().for_each(|condition| condition.reset()),
            Self::Host(None, _) | Self::Branch(_) => {}
        }
        Ok(())
    }

    /// Ends the operation without doing it, because the context faulted or ends.
    pub(in crate::device) fn abandon(self, device: &Device, code: CUresult) {
        match self {
            Self::Record(record) => record.abandon(code),
            Self::Callback(function, stream, data) => {
                call_back(device, function, stream, code, data);
            }
            // Its context takes it along when it ends.
            Self::Alloc(block) => device.space.insert(block),
            Self::Free(block) => device.space.remove(&block),
            Self::Copy(_)
            | Self::Fill(_)
            | Self::Launch(_)
            | Self::Wait(_)
            | Self::Host(..)
            | Self::Release(_)
            | Self::Reset(_)
            | Self::Branch(_)
            | Self::Value(_) => {}
        }
    }
}

fn call_back(
    device: &Device,
    function: CUstreamCallback,
    stream: u64,
    code: CUresult,
    data: UserData,
) {
    let Some(function) = function else { return };
    let stream: CUstream = std::ptr::without_provenance_mut(stream as usize);
    in_user_code(device.machine, || {
        // SAFETY: the caller of `cuStreamAddCallback` promised that the function may be
        // called with these arguments, once, when the stream gets here or stops.
        unsafe { function(stream, code, data.0) }
    });
}

/// Calls a user's function for a machine. A thread that is ending may have lost its list
/// of machines: then the function is called all the same.
pub(in crate::device) fn in_user_code(machine: MachineId, call: impl FnOnce()) {
    /// Also on the way of a panic.
    struct Restore;
    impl Drop for Restore {
        fn drop(&mut self) {
            let _ = IN_HOST_FUNCTION.try_with(|machines| machines.borrow_mut().pop());
        }
    }
    let pushed = IN_HOST_FUNCTION.try_with(|machines| machines.borrow_mut().push(machine));
    let _restore = pushed.is_ok().then_some(Restore);
    call();
}
