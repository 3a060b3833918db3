//! Drivers that lack what an operation needs.

use cupola_managers::buffer::DeviceSliceMut;
use cupola_managers::context::Waiting;
use cupola_managers::ops::{self, Rectangle};
use cupola_managers::pool::{Allocation, DriverAllocator};
use cupola_managers::tensor::{TensorMap, Tiling};
use cupola_managers::{Error, ExecutionManager, PoolConfig};
use cupola_sim::Machine;
use cupola_sys::driver::{SYMBOLS, id};

const PTX: &str = "
.version 6.0
.target sm_60
.address_size 64
.global .align 4 .b8 table[16];
.visible .entry nothing() {
    ret;
}
";

// Without it a program on an older driver would be told that a call failed, and not which one its
// driver lacks, nor from which version on there is one.
#[test]
fn what_a_driver_lacks_is_named() {
    let calls = [
        id::cuMemsetD8Async,
        id::cuMemsetD16Async,
        id::cuMemcpy2DAsync_v2,
        id::cuModuleGetGlobal_v2,
        id::cuPointerGetAttribute,
        id::cuTensorMapEncodeTiled,
        id::cuFuncSetAttribute,
        id::cuMemAllocAsync,
        id::cuMemAllocManaged,
        id::cuMemHostRegister_v2,
        id::cuDevicePrimaryCtxSetFlags_v2,
    ];
    for call in calls {
        let machine = Machine::builder().worker_threads(1).without(call).build();
        let execution = ExecutionManager::new(machine.driver()).unwrap();
        let device = execution.devices().get(0).unwrap();
        let context = device.primary().unwrap();
        let stream = context.streams().create(Default::default()).unwrap();
        let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
        let mut shorts = pool.upload(&[1u16; 64], &stream).unwrap();
        let module = context.modules().load_ptx(PTX).unwrap();
        let rows = Rectangle::new(2, 2).from_pitch(3);
        let refused = match call {
            id::cuMemsetD8Async => pool.zeros::<u8>(8, &stream).map(drop),
            id::cuMemsetD16Async => ops::fill(shorts.slice_mut(1..).unwrap(), 7, &stream),
            id::cuMemcpy2DAsync_v2 => ops::read_2d(&shorts, &mut [0; 4], rows, &stream),
            id::cuPointerGetAttribute => {
                context.set_pointer_checks(true);
                // SAFETY: the elements of the buffer, which is alive.
                let there = unsafe { DeviceSliceMut::<u16>::from_raw(shorts.as_raw(), 64) };
                ops::write(there, &[2; 64], &stream)
            }
            id::cuTensorMapEncodeTiled => {
                let tiling = Tiling::new([16, 4], [16, 2]);
                TensorMap::tiled(&context, shorts.view(), tiling).map(drop)
            }
            id::cuModuleGetGlobal_v2 => module.global::<u32>("table").map(drop),
            id::cuFuncSetAttribute => module
                .function("nothing")
                .unwrap()
                .allow_dynamic_shared(64 << 10),
            id::cuMemAllocAsync => {
                Allocation::new(DriverAllocator::new(&context), 8, 8, &stream).map(drop)
            }
            id::cuMemAllocManaged => context.managed::<u8>(8).map(drop),
            id::cuMemHostRegister_v2 => context
                .register_host(vec![0u8; 8])
                .map(drop)
                .map_err(Error::from),
            _ => device.contexts().set_primary_waiting(Waiting::Spin),
        };
        let Err(Error::Unsupported { symbol, .. }) = refused else {
            panic!("{call:?}: {refused:?}");
        };
        assert_eq!(symbol, SYMBOLS[usize::from(call.0)].as_str());
        drop((shorts, module, pool, stream, context, device, execution));
        assert_eq!(machine.leaks(), None, "{call:?}");
    }
}
