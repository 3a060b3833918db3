//! Variables of modules, and more shared memory than a kernel has by itself.

use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{Buffer, Error, Stream};
use cupola_sys::driver::{CUresult, id};

use super::bench;

/// `gather` copies `table` into what it is given, and `reach` writes the number of its thread to the
/// end of 64 KiB of shared memory and from there to what it is given.
const PTX: &str = "
.version 6.0
.target sm_60
.address_size 64
.global .align 4 .b8 table[16];
.const .align 2 .b8 odd[6];
.extern .shared .align 4 .b8 memory[];
.visible .entry gather(.param .u64 to) {
    .reg .b32 %i<3>;
    .reg .b64 %a<5>;
    mov.u32 %i1, %tid.x;
    ld.param.u64 %a1, [to];
    mad.wide.u32 %a2, %i1, 4, %a1;
    mov.u64 %a3, table;
    mad.wide.u32 %a4, %i1, 4, %a3;
    ld.global.u32 %i2, [%a4];
    st.global.u32 [%a2], %i2;
    ret;
}
.visible .entry reach(.param .u64 to) {
    .reg .b32 %i<5>;
    .reg .b64 %a<3>;
    mov.u32 %i1, %tid.x;
    mov.u32 %i2, memory;
    mad.lo.u32 %i3, %i1, 4, %i2;
    st.shared.u32 [%i3+65520], %i1;
    ld.shared.u32 %i4, [%i3+65520];
    ld.param.u64 %a1, [to];
    mad.wide.u32 %a2, %i1, 4, %a1;
    st.global.u32 [%a2], %i4;
    ret;
}
";

fn launch(
    function: &Function,
    shared_bytes: u32,
    to: &mut Buffer<u32>,
    stream: &Stream,
) -> Result<(), Error> {
    let config = LaunchConfig {
        shared_bytes,
        ..LaunchConfig::linear(1, 4)
    };
    // SAFETY: four threads, each of which writes its word of four.
    unsafe { ops::launch(function, config, (to,), stream) }
}

// Without it a variable could be read and written at another place, or with another length, than
// kernels know it by.
#[test]
fn variables_of_a_module_are_the_kernels() {
    let bench = bench();
    let stream = &bench.stream;
    let module = bench.base.context.modules().load_ptx(PTX).unwrap();
    let table = module.global::<u32>("table").unwrap();
    assert_eq!((table.len(), table.is_empty()), (4, false));
    table.write(&[5, 6, 7, 8], stream).unwrap();
    let mut to = bench.pool.zeros::<u32>(4, stream).unwrap();
    launch(&module.function("gather").unwrap(), 0, &mut to, stream).unwrap();
    assert_eq!(to.to_vec(stream).unwrap(), [5, 6, 7, 8]);
    // It keeps the module, and is the same variable in every clone.
    drop(module);
    let again = table.clone();
    drop(table);
    assert_eq!(again.to_vec(stream).unwrap(), [5, 6, 7, 8]);
    // SAFETY: the variable is kept until the copy below has been waited for.
    let part = unsafe { again.view_mut() }.slice(1..3).unwrap();
    ops::fill(part, 9, stream).unwrap();
    assert_eq!(again.to_vec(stream).unwrap(), [5, 9, 9, 8]);
    drop((again, to));
    bench.finish();
}

// Without it a variable could be taken for what it is not, or an error of the driver be lost.
#[test]
fn what_is_no_such_variable_is_refused() {
    let bench = bench();
    let module = bench.base.context.modules().load_ptx(PTX).unwrap();
    assert_eq!(module.global::<[u8; 3]>("odd").unwrap().len(), 2);
    let refused = module.global::<u32>("odd").unwrap_err();
    assert!(matches!(refused, Error::Invalid { .. }), "{refused}");
    assert!(module.global::<u32>("ta\0ble").is_err());
    let missing = module.global::<u32>("gather").unwrap_err();
    assert_eq!(missing.status(), Some(CUresult::CUDA_ERROR_NOT_FOUND));
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    bench.base.faults.reset();
    bench.base.faults.fail(id::cuModuleGetGlobal_v2, 1, code);
    let refused = module.global::<u32>("table").unwrap_err();
    assert_eq!(refused.status(), Some(code));
    bench.base.faults.reset();

    let device = bench.base.execution.devices().get(0).unwrap();
    let own = device.contexts().create(Default::default()).unwrap();
    let foreign = own.streams().create(Default::default()).unwrap();
    let table = module.global::<u32>("table").unwrap();
    let wrong = |refused| assert!(matches!(refused, Err(Error::WrongContext { .. })));
    wrong(table.write(&[1; 4], &foreign));
    wrong(table.to_vec(&foreign).map(drop));
    drop((table, module, foreign, own, device));
    bench.finish();
}

// Without it a program would be told nothing but that a value is invalid.
#[test]
fn a_launch_with_too_much_shared_memory_says_what_allows_it() {
    let bench = bench();
    let module = bench.base.context.modules().load_ptx(PTX).unwrap();
    let reach = module.function("reach").unwrap();
    let mut to = bench.pool.zeros::<u32>(4, &bench.stream).unwrap();
    let refused = launch(&reach, 64 << 10, &mut to, &bench.stream).unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("65536") && text.contains("49152"), "{text}");
    assert!(text.contains("allow_dynamic_shared"), "{text}");
    // An error that says something else stays what it is.
    let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    bench.base.faults.reset();
    bench.base.faults.fail(id::cuLaunchKernel, 1, code);
    let refused = launch(&reach, 1 << 10, &mut to, &bench.stream).unwrap_err();
    assert_eq!(refused.status(), Some(code));
    // And so does one of a value that is another.
    let code = CUresult::CUDA_ERROR_INVALID_VALUE;
    bench.base.faults.fail(id::cuLaunchKernel, 2, code);
    let refused = launch(&reach, 1 << 10, &mut to, &bench.stream).unwrap_err();
    assert_eq!(refused.status(), Some(code));
    let findings = bench.base.machine.findings();
    assert!(findings.is_empty(), "refused before the call: {findings:?}");
}

// Without it a kernel that needs more than 48 KiB of shared memory could not be launched, or one
// launch take back what another needs.
#[test]
fn shared_memory_is_allowed_up_to_what_the_device_has() {
    let bench = bench();
    let stream = &bench.stream;
    let module = bench.base.context.modules().load_ptx(PTX).unwrap();
    let reach = module.function("reach").unwrap();
    let mut to = bench.pool.zeros::<u32>(4, stream).unwrap();
    assert_eq!(reach.max_dynamic_shared(), Ok(48 << 10));
    reach.allow_dynamic_shared(64 << 10).unwrap();
    assert_eq!(reach.max_dynamic_shared(), Ok(64 << 10));
    launch(&reach, 64 << 10, &mut to, stream).unwrap();
    assert_eq!(to.to_vec(stream).unwrap(), [0, 1, 2, 3]);
    // Less takes nothing back.
    reach.allow_dynamic_shared(1 << 10).unwrap();
    assert_eq!(reach.max_dynamic_shared(), Ok(64 << 10));

    let device = bench.base.execution.devices().get(0).unwrap();
    let most = device.info().unwrap().shared_per_block_optin as u32;
    reach.allow_dynamic_shared(most).unwrap();
    let refused = reach.allow_dynamic_shared(most + 1).unwrap_err();
    assert!(refused.to_string().contains(&most.to_string()), "{refused}");
    drop((to, reach, module, device));
    bench.finish();
}

// Without it an error of one of the three calls could be lost, or a lock stay taken after it.
#[test]
fn errors_of_the_attribute_are_told() {
    let bench = bench();
    let module = bench.base.context.modules().load_ptx(PTX).unwrap();
    let reach = module.function("reach").unwrap();
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    for call in [
        id::cuDeviceGetAttribute,
        id::cuFuncGetAttribute,
        id::cuFuncSetAttribute,
    ] {
        bench.base.faults.reset();
        bench.base.faults.fail(call, 1, code);
        let refused = reach.allow_dynamic_shared(64 << 10).unwrap_err();
        assert_eq!(refused.status(), Some(code));
    }
    reach.allow_dynamic_shared(64 << 10).unwrap();
    drop((reach, module));
    bench.finish();
}
