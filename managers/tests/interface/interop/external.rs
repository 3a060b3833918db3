//! Memory of another API, for which exportable memory of the software device stands here.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::interop::{ExternalMemory, ExternalMemoryConfig};
use cupola_managers::pool::DeviceLimit;
use cupola_managers::vmm::{Access, AddressRange};
use cupola_managers::{Context, Error, ops};
use cupola_sys::driver::{CUresult, id};

use super::{PoolBench, bench, hold};

const MIB: u64 = 1 << 20;

/// Memory as the other API has it, its descriptor, and addresses of it there.
fn exported(bench: &PoolBench) -> (AddressRange, OwnedFd) {
    let limit = DeviceLimit::new(4 * MIB);
    let memory = bench.base.context.virtual_memory(&limit).unwrap();
    let made = memory.create_exportable(4 * MIB).unwrap();
    let file = made.export().unwrap();
    let mut range = memory.reserve(4 * MIB).unwrap();
    range.map(0, made).unwrap();
    range.set_access(0..4 * MIB, Access::ReadWrite).unwrap();
    (range, file)
}

fn import(
    context: &Context,
    file: OwnedFd,
    config: ExternalMemoryConfig,
) -> Result<ExternalMemory, Error> {
    // SAFETY: the descriptor is of 4 MiB of exportable memory, or of none.
    unsafe { ExternalMemory::import(context, file, config) }
}

// Without it a buffer could be of other bytes than its part of the memory, or its end take the memory along.
#[test]
fn a_buffer_is_its_part_of_the_memory() {
    let bench = bench();
    let (context, stream) = (&bench.base.context, &bench.stream);
    let (there, file) = exported(&bench);
    // SAFETY: the mapped bytes, which nothing else uses.
    let all = unsafe { DeviceSliceMut::<u8>::from_raw(there.address(), 4 << 20) };
    ops::fill(all, 1, stream).unwrap();
    let config = ExternalMemoryConfig::new(4 * MIB).dedicated();
    let memory = import(context, file, config).unwrap();
    assert_eq!(memory.bytes(), 4 * MIB);
    let mut front = memory.map(0..MIB).unwrap();
    let mut part = memory.map(MIB + 512..MIB + 512 + 64).unwrap();
    assert_eq!((front.bytes(), part.bytes()), (MIB, 64));
    assert_ne!(front.address(), part.address());
    // The buffers keep it.
    drop(memory);
    // SAFETY: the work is on the stream, and nothing else uses the memory.
    let words = unsafe { part.slice_mut::<u32>(4..16, stream) }.unwrap();
    ops::fill(words, 0x0202_0202, stream).unwrap();
    // SAFETY: as above.
    let found = unsafe { front.slice::<u8>(0..MIB as usize, stream) }.unwrap();
    assert!(found.to_vec(stream).unwrap().iter().all(|&byte| byte == 1));
    drop((front, part));
    // SAFETY: the mapped bytes.
    let all = unsafe { DeviceSlice::<u8>::from_raw(there.address(), 4 << 20) };
    let found = all.to_vec(stream).unwrap();
    let twos: Vec<_> = (0..found.len()).filter(|&at| found[at] == 2).collect();
    let begin = (MIB + 512 + 16) as usize;
    assert_eq!(twos, (begin..begin + 48).collect::<Vec<_>>());
    drop(there);
    bench.finish();
}

// Without it a mistake would reach the driver, or the limit be passed or stay charged.
#[test]
fn what_cannot_be_is_refused() {
    let bench = bench();
    let (context, stream) = (&bench.base.context, &bench.stream);
    let (there, file) = exported(&bench);
    let again = || file.as_fd().try_clone_to_owned().unwrap();
    let limit = DeviceLimit::new(6 * MIB);
    let whole = || ExternalMemoryConfig::new(4 * MIB).within(&limit);
    let none = import(context, again(), ExternalMemoryConfig::new(0));
    assert!(matches!(none, Err(Error::Invalid { field: "bytes", .. })));
    // More than there is: the driver's word, and the charge goes back.
    let more = ExternalMemoryConfig::new(5 * MIB).within(&limit);
    let more = import(context, again(), more).unwrap_err();
    assert!(
        more.to_string().contains("cuImportExternalMemory"),
        "{more}"
    );
    let foreign = File::open("/dev/null").unwrap().into();
    assert!(import(context, foreign, whole()).is_err());
    assert_eq!(limit.used(), 0);
    let memory = import(context, again(), whole()).unwrap();
    assert_eq!(limit.used(), 4 * MIB);
    let over = import(context, again(), whole());
    assert!(matches!(over, Err(Error::OverLimit(_))));
    for bytes in [0..4 * MIB + 1, 4 * MIB..4 * MIB] {
        let refused = memory.map(bytes);
        assert!(matches!(
            refused,
            Err(Error::Invalid { field: "bytes", .. })
        ));
    }
    let mut buffer = memory.map(1..65).unwrap();
    // SAFETY: no work is given any of them.
    let refused = unsafe {
        [
            buffer.slice::<u32>(0..17, stream).map(drop),
            buffer
                .slice::<u32>(usize::MAX..usize::MAX, stream)
                .map(drop),
            buffer.slice::<u8>(0..65, stream).map(drop),
        ]
    };
    for refused in refused {
        let is_named = matches!(
            refused,
            Err(Error::Invalid {
                field: "elements",
                ..
            })
        );
        assert!(is_named, "{refused:?}");
    }
    drop((memory, buffer));
    assert_eq!(limit.used(), 0);
    drop(there);
    bench.finish();
}

// Without it addresses could be given back under work that runs, and the next owner's memory be written.
#[test]
fn the_end_of_a_buffer_waits_for_its_work() {
    let bench = bench();
    let (there, file) = exported(&bench);
    let memory = import(
        &bench.base.context,
        file,
        ExternalMemoryConfig::new(4 * MIB),
    )
    .unwrap();
    let mut buffer = memory.map(0..64).unwrap();
    let frees = bench.base.faults.count(id::cuMemFree_v2);
    let held = hold(&bench.stream);
    // SAFETY: the fill is on the stream, and nothing else uses the memory.
    let bytes = unsafe { buffer.slice_mut::<u8>(0..64, &bench.stream) }.unwrap();
    ops::fill(bytes, 5, &bench.stream).unwrap();
    let end = thread::spawn(move || drop(buffer));
    thread::sleep(Duration::from_millis(30));
    assert!(!end.is_finished(), "its work is held up");
    assert_eq!(bench.base.faults.count(id::cuMemFree_v2), frees);
    drop(held);
    end.join().unwrap();
    // SAFETY: the mapped bytes.
    let found = unsafe { DeviceSlice::<u8>::from_raw(there.address(), 64) };
    assert_eq!(found.to_vec(&bench.stream).unwrap(), [5; 64]);
    drop((memory, there));
    bench.finish();
}

// Without it addresses could be given back under work that may still run, or more be kept than is counted: two buffers and
// the import that they are of.
#[test]
fn buffers_that_cannot_be_waited_for_are_abandoned_with_the_import() {
    let bench = bench();
    let (there, file) = exported(&bench);
    let limit = DeviceLimit::new(4 * MIB);
    let config = ExternalMemoryConfig::new(4 * MIB).within(&limit);
    let memory = import(&bench.base.context, file, config).unwrap();
    let mut buffers = [memory.map(0..64).unwrap(), memory.map(64..128).unwrap()];
    let spare = memory.map(128..192).unwrap();
    for buffer in &mut buffers {
        // SAFETY: no work is given it.
        unsafe { buffer.slice::<u8>(0..64, &bench.stream) }.unwrap();
    }
    let faults = &bench.base.faults;
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    let waits = [
        id::cuStreamSynchronize,
        id::cuEventSynchronize,
        id::cuEventQuery,
        id::cuEventRecord,
        id::cuCtxSynchronize,
    ];
    for wait in waits {
        faults.fail_from(wait, 1, code);
    }
    let abandoned = || bench.base.execution.live().abandoned;
    drop(buffers);
    faults.reset();
    assert_eq!(abandoned(), 2, "the import is held still");
    assert_eq!(limit.used(), 4 * MIB);
    drop(memory);
    assert_eq!(abandoned(), 2, "a buffer has it still");
    drop(spare);
    assert_eq!(abandoned(), 3);
    assert_eq!(faults.count(id::cuDestroyExternalMemory), 0);
    assert_eq!(limit.used(), 4 * MIB, "the driver has it still");
    drop(there);
}

// Without it the memory would be another process's in name only.
#[test]
fn another_process_has_the_same_memory() {
    let bench = bench();
    let stream = &bench.stream;
    let (there, file) = exported(&bench);
    // SAFETY: the mapped bytes, which nothing else uses.
    let all = unsafe { DeviceSliceMut::<u8>::from_raw(there.address(), 4 << 20) };
    ops::fill(all, 3, stream).unwrap();
    ops::synchronize(stream).unwrap();
    let ended = Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "interop::external::in_another_process",
            "--nocapture",
        ])
        .stdin(Stdio::from(file))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    // SAFETY: the mapped bytes: the other process has ended.
    let all = unsafe { DeviceSlice::<u8>::from_raw(there.address(), 4 << 20) };
    let found = all.to_vec(stream).unwrap();
    assert!(found[..3 << 20].iter().all(|&byte| byte == 3));
    assert!(found[3 << 20..].iter().all(|&byte| byte == 4));
    drop(there);
    bench.finish();
}

#[test]
#[ignore = "the other process of another_process_has_the_same_memory"]
fn in_another_process() {
    let bench = bench();
    let stream = &bench.stream;
    let file = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let memory = import(
        &bench.base.context,
        file,
        ExternalMemoryConfig::new(4 * MIB),
    )
    .unwrap();
    let mut end = memory.map(3 * MIB..4 * MIB).unwrap();
    // SAFETY: the work is on the stream, and the first process waits.
    let bytes = unsafe { end.slice::<u8>(0..MIB as usize, stream) }.unwrap();
    assert!(bytes.to_vec(stream).unwrap().iter().all(|&byte| byte == 3));
    // SAFETY: as above.
    let bytes = unsafe { end.slice_mut::<u8>(0..MIB as usize, stream) }.unwrap();
    ops::fill(bytes, 4, stream).unwrap();
    drop((end, memory));
    bench.finish();
}

// Without it a driver of before CUDA 10.0 would be called where it has nothing.
#[test]
fn a_driver_without_it_is_named() {
    let machine = cupola_sim::Machine::builder().without(id::cuImportExternalMemory);
    let base = super::TestBench::on(machine);
    let refused = import(
        &base.context,
        File::open("/dev/null").unwrap().into(),
        ExternalMemoryConfig::new(MIB),
    );
    let error = refused.unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("cuImportExternalMemory"));
    base.finish();
}
