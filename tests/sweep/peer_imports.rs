//! Memory that is exported on one device and used on another, and semaphores that both sides of an export have
//! imported. What each limit counts is held against what its device has in use, whatever has failed.

use std::os::unix::net::UnixStream;

use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::interop::{
    ExternalMemory, ExternalMemoryConfig, ExternalSemaphore, ExternalTimeline,
};
use cupola_managers::ops::{self, Cuboid, PeerAddress, Rectangle};
use cupola_managers::pool::{DeviceLimit, Source};
use cupola_managers::vmm::{Access, AddressRange, ImportCharge, PhysicalMemory};
use cupola_managers::{Context, PoolConfig, Result, Stream};
use cupola_sharing::{receive, send};
use cupola_testing::Stage;
use cupola_testing::sweep::Outcome;

use super::peers::contexts;

const PAGE: u64 = 2 << 20;
/// Words that are copied and compared.
const LEN: usize = 64;

/// One device, what its memory is charged to, and what imports of it are charged to: the limit of another process.
struct Side {
    context: Context,
    limit: DeviceLimit,
    imports: DeviceLimit,
    /// Bytes that the device had free before.
    free: u64,
}

impl Side {
    fn new(context: &Context) -> Result<Self> {
        Ok(Self {
            context: context.clone(),
            limit: DeviceLimit::new(64 * PAGE),
            imports: DeviceLimit::new(8 * PAGE),
            free: context.memory_info()?.free,
        })
    }

    /// After everything that was charged has been dropped: what is charged still is what the driver has refused to
    /// take back.
    fn check(&self, abandoned: u64) -> Result<()> {
        let used = [self.limit.used(), self.imports.used()];
        if abandoned == 0 {
            assert_eq!(used, [0, 0], "charges of what is gone");
        }
        assert!(used[1] <= abandoned * PAGE, "imports are of a page each");
        // A context that is lost has no answer.
        if self.context.poison().is_none() {
            let in_use = self.free - self.context.memory_info()?.free;
            assert_eq!(used[0], in_use, "what the device has in use");
        }
        Ok(())
    }
}

/// Runs the work on two devices, and looks at their limits after it.
fn with_exact_limits(stage: &Stage, work: impl Fn(&[Side; 2]) -> Outcome) -> Outcome {
    let [here, there] = contexts(stage)?;
    let sides = [Side::new(&here)?, Side::new(&there)?];
    let done = work(&sides);
    let abandoned = stage.execution().live().abandoned;
    let mut checked = sides.iter().map(|side| side.check(abandoned));
    let checked = checked.try_for_each(|checked| checked);
    done?;
    Ok(checked?)
}

/// Waits at its end for the work on the streams, which uses ranges that end after it, also where the wait that the
/// scenario makes has failed: the ranges do not know the work.
struct Work<'s>(&'s Stage, [&'s Stream; 2]);

impl Drop for Work<'_> {
    fn drop(&mut self) {
        let driver = self.0.execution().driver();
        for stream in self.1 {
            // SAFETY: the stream is alive.
            let wait = || unsafe { driver.cuStreamSynchronize(stream.as_raw()) };
            // One failure at most is injected.
            let _ = wait().or_else(|_| wait());
        }
    }
}

fn map(piece: PhysicalMemory, access: Access) -> Result<AddressRange> {
    let mut range = piece.virtual_memory().reserve(PAGE)?;
    range.map(0, piece)?;
    range.set_access(0..PAGE, access)?;
    Ok(range)
}

/// The first words of a range, for work that the range outlives.
fn words(range: &AddressRange) -> DeviceSlice<'_, u32> {
    // SAFETY: a page is mapped, of which the scenarios write words.
    unsafe { DeviceSlice::from_raw(range.address(), LEN) }
}

fn words_mut(range: &AddressRange) -> DeviceSliceMut<'_, u32> {
    // SAFETY: a page is mapped, whose uses the scenarios put in order.
    unsafe { DeviceSliceMut::from_raw(range.address(), LEN) }
}

/// Memory of device 0, imported there and on device 1, whose work uses both; it ends in either order.
pub(crate) fn imported(stage: &Stage) -> Outcome {
    with_exact_limits(stage, |sides| {
        let [here, there] = sides;
        let stream = here.context.streams().create(Default::default())?;
        let other = there.context.streams().create(Default::default())?;
        let ours = here.context.virtual_memory(&here.limit)?;
        let imports = here.context.virtual_memory(&here.imports)?;
        let peers = there.context.virtual_memory(&there.imports)?;
        let (socket, theirs) = UnixStream::pair()?;
        for charge in [ImportCharge::ThisLimit, ImportCharge::OtherLimit] {
            let made = ours.create_exportable(PAGE)?;
            send(&socket, &made)?;
            let imported = map(receive(&theirs, &imports, charge)?, Access::Read)?;
            let direct = map(peers.import(made.export()?, PAGE, charge)?, Access::Read)?;
            let made = map(made, Access::ReadWrite)?;
            let ranges = [made, imported, direct];
            let work = Work(stage, [&stream, &other]);
            let [made, imported, direct] = &ranges;
            imported.grant_peer(0..PAGE, &there.context, Access::ReadWrite)?;
            ops::fill(words_mut(imported), 7, &other)?;
            ops::synchronize(&other)?;
            assert_eq!(words(made).to_vec(&stream)?, [7; LEN], "one memory");
            imported.revoke_peer(0..PAGE, &there.context)?;
            ops::fill(words_mut(made), 8, &stream)?;
            ops::synchronize(&stream)?;
            assert_eq!(words(direct).to_vec(&other)?, [8; LEN], "of device 0");
            drop(work);
            let [made, imported, direct] = ranges;
            drop((made, imported));
            let _work = Work(stage, [&stream, &other]);
            assert_eq!(words(&direct).to_vec(&other)?, [8; LEN], "the last one");
        }
        Ok(())
    })
}

/// Copies between memory of another process or API, and pools of both kinds of the other device, which are open.
pub(crate) fn imported_copies(stage: &Stage) -> Outcome {
    with_exact_limits(stage, |sides| {
        let [here, there] = sides;
        let stream = here.context.streams().create(Default::default())?;
        let other = there.context.streams().create(Default::default())?;
        let ours = here.context.virtual_memory(&here.limit)?;
        let imports = here.context.virtual_memory(&here.imports)?;
        let made = ours.create_exportable(PAGE)?;
        let config = ExternalMemoryConfig::new(PAGE).within(&here.imports);
        // SAFETY: the descriptor is of as many bytes.
        let external = unsafe { ExternalMemory::import(&here.context, made.export()?, config) }?;
        let external = external.map(0..PAGE)?;
        let imported = imports.import(made.export()?, PAGE, ImportCharge::ThisLimit)?;
        let imported = map(imported, Access::ReadWrite)?;
        drop(made);
        let _work = Work(stage, [&stream, &other]);
        ops::fill(words_mut(&imported), 7, &stream)?;
        for source in [Source::Best, Source::Chunks] {
            let config = PoolConfig {
                source,
                ..PoolConfig::limit(32 * PAGE).within(&there.limit)
            };
            let pool = there.context.memory_pool(config)?;
            let mut buffer = pool.zeros::<u32>(LEN, &other)?;
            // The pool does not know of work that has the address.
            let work = Work(stage, [&stream, &other]);
            ops::order(&other, &stream)?;
            for address in [imported.address(), external.address()] {
                let from = PeerAddress {
                    context: &here.context,
                    address,
                };
                let to = PeerAddress {
                    context: &there.context,
                    address: buffer.as_raw(),
                };
                // SAFETY: both have as many bytes, and the streams are put in order.
                unsafe { ops::copy_between_raw(from, to, 4 * LEN / 2, &stream) }?;
            }
            pool.open_to(&here.context)?;
            let rows = Rectangle::new(4, 4).from_pitch(5).to_pitch(8);
            let target = buffer.slice_mut(LEN / 2..)?;
            ops::copy_2d(words(&imported), target, rows, &stream)?;
            let cuboid = Cuboid::new(2, 2, 2).to_pitch(4).to_rows(3);
            let mut more = pool.zeros::<u32>(LEN, &other)?;
            ops::order(&other, &stream)?;
            ops::copy_3d(words(&imported), &mut more, cuboid, &stream)?;
            ops::order(&stream, &other)?;
            let copied = |words: Vec<u32>| words.iter().filter(|&&word| word == 7).count();
            assert_eq!(copied(buffer.to_vec(&other)?), LEN / 2 + 16, "rows");
            assert_eq!(copied(more.to_vec(&other)?), 8, "slices");
            assert!(pool.close_to(&here.context).is_err(), "its memory is used");
            drop((work, buffer, more));
            ops::synchronize(&other)?;
            pool.close_to(&here.context)?;
        }
        Ok(())
    })
}

/// A timeline and a binary semaphore, which both sides have imported and hand the turn to each other by. Each signal is
/// put before its wait, so that no failure leaves a stream waiting.
pub(crate) fn semaphores(stage: &Stage) -> Outcome {
    with_exact_limits(stage, |[here, _]| {
        let one = here.context.streams().create(Default::default())?;
        let two = here.context.streams().create(Default::default())?;
        let memory = here.context.virtual_memory(&here.limit)?;
        let [line, flag] = [
            memory.create_exportable(PAGE)?,
            memory.create_exportable(PAGE)?,
        ];
        let timeline = || {
            // SAFETY: the descriptor stands for a semaphore's.
            unsafe { ExternalTimeline::import(&here.context, line.export()?) }
        };
        let binary = || {
            // SAFETY: the descriptor stands for a semaphore's.
            unsafe { ExternalSemaphore::import(&here.context, flag.export()?) }
        };
        let [ours, theirs] = [(timeline()?, binary()?), (timeline()?, binary()?)];
        for turn in 1..4 {
            ours.0.signal(turn, &one)?;
            theirs.0.wait(turn, &two)?;
            theirs.1.signal(&two)?;
            ours.1.wait(&one)?;
        }
        drop(ours);
        // The import of the other side is another one.
        theirs.0.signal(4, &one)?;
        drop(theirs);
        assert_eq!(value(line, &one)?, 4);
        assert_eq!(value(flag, &one)?, 0, "its waits have taken it back");
        Ok(())
    })
}

/// The value of a semaphore, which is that of its memory.
fn value(made: PhysicalMemory, stream: &Stream) -> Result<u64> {
    let range = map(made, Access::Read)?;
    // SAFETY: a page is mapped.
    let value = unsafe { DeviceSlice::<u64>::from_raw(range.address(), 1) };
    Ok(value.to_vec(stream)?[0])
}
