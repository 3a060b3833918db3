//! The typed launches, through managers and driver, on the software device.

use cupola_kernels::geometry::REDUCE_SCRATCH_BYTES;
use cupola_kernels::ops::{Kernels, Number, ReduceScratch};
use cupola_kernels::reference;
use cupola_managers::buffer::{Buffer, DeviceCopy};
use cupola_managers::pool::{MemoryPool, PoolConfig};
use cupola_managers::runtime::RuntimeContext;
use cupola_managers::stream::{Stream, StreamConfig};
use cupola_managers::{Context, Error, ExecutionManager, Result, ops};
use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::Version;

/// A device with everything that a launch needs.
struct Bench {
    kernels: Kernels,
    pool: MemoryPool,
    stream: Stream,
    context: Context,
    execution: ExecutionManager,
    machine: Machine,
}

impl Bench {
    fn new(version: Version) -> Result<Self> {
        let device = DeviceConfig::new().multiprocessors(4);
        let machine = Machine::builder()
            .device(device)
            .driver_version(version)
            .build();
        let execution = ExecutionManager::new(machine.driver())?;
        let device = execution.devices().get(0)?;
        let context = device.primary()?;
        Ok(Self {
            kernels: Kernels::load(&context, device.info()?)?,
            pool: context.memory_pool(PoolConfig::limit(64 << 20))?,
            stream: context.streams().create(StreamConfig::default())?,
            context,
            execution,
            machine,
        })
    }

    fn upload<T: DeviceCopy>(&self, values: &[T]) -> Result<Buffer<T>> {
        let mut buffer = self.pool.allocate(values.len(), &self.stream)?;
        ops::write(&mut buffer, values, &self.stream)?;
        Ok(buffer)
    }

    fn download<T: DeviceCopy + Default>(&self, buffer: &Buffer<T>) -> Result<Vec<T>> {
        let mut values = vec![T::default(); buffer.len()];
        ops::read(buffer, &mut values, &self.stream)?;
        Ok(values)
    }

    fn sum<T: Number + Default>(&self, values: &[T]) -> Result<T> {
        let input = self.upload(values)?;
        let mut scratch = ReduceScratch::new(&self.pool, &self.stream)?;
        let mut total = self.upload(&[T::default()])?;
        self.kernels
            .reduce_sum(&input, &mut scratch, &mut total, &self.stream)?;
        Ok(self.download(&total)?[0])
    }
}

/// Every kernel once, against the reference.
fn all_kernels(bench: &Bench) -> Result<()> {
    let data: Vec<u8> = (0..300_007_u32)
        .map(|i| (i.wrapping_mul(i) >> 7) as u8)
        .collect();
    let buffer = bench.upload(&data)?;
    let stream = &bench.stream;

    // Twice over two parts: counts add up, and the parts are not aligned.
    let mut counts = bench.upload(&[0_u64; 256])?;
    bench
        .kernels
        .histogram(buffer.slice(..1001)?, &mut counts, stream)?;
    bench
        .kernels
        .histogram(buffer.slice(1001..)?, &mut counts, stream)?;
    let mut expected = [0; 256];
    reference::histogram(&data, &mut expected);
    assert_eq!(bench.download(&counts)?, expected);

    // The second call does not add to the first.
    let mut crc = bench.upload(&[1_u32])?;
    bench.kernels.crc32(&buffer, &mut crc, stream)?;
    bench.kernels.crc32(buffer.slice(5..)?, &mut crc, stream)?;
    let tail = bench.download(&crc)?[0];
    assert_eq!(tail, reference::crc32(&data[5..]));
    let head = reference::crc32(&data[..5]);
    let whole = reference::crc32_combine(head, tail, data.len() as u64 - 5);
    assert_eq!(whole, reference::crc32(&data));

    let x: Vec<f32> = (0..5000_u16).map(|i| f32::from(i) / 3.0).collect();
    let mut y = vec![0.7; x.len()];
    let (x_buffer, mut y_buffer) = (bench.upload(&x)?, bench.upload(&y)?);
    bench
        .kernels
        .saxpy(-1.1, &x_buffer, &mut y_buffer, stream)?;
    reference::saxpy(-1.1, &x, &mut y);
    assert_eq!(bench.download(&y_buffer)?, y);
    bench.kernels.scale(0.3, &x_buffer, &mut y_buffer, stream)?;
    reference::scale(0.3, &x, &mut y);
    assert_eq!(bench.download(&y_buffer)?, y);

    assert_eq!(
        bench.sum(&x)?.to_bits(),
        reference::reduce_sum_f32(&x).to_bits()
    );
    assert_eq!(
        bench.sum(&x[..100])?.to_bits(),
        reference::reduce_sum_f32(&x[..100]).to_bits()
    );
    let integers: Vec<u64> = (0..100_000).map(|i| i << 50).collect();
    assert_eq!(bench.sum(&integers)?, reference::reduce_sum_u64(&integers));

    let mut block = bench.upload(&data)?;
    bench.kernels.stamp(&mut block, 42, stream)?;
    let mut wrong = bench.upload(&[0_u64])?;
    bench.kernels.check(&block, 42, &mut wrong, stream)?;
    assert_eq!(bench.download(&wrong)?, [0]);
    bench.kernels.check(&block, 43, &mut wrong, stream)?;
    let mut stamped = data.clone();
    reference::stamp(&mut stamped, 42);
    assert_eq!(bench.download(&wrong)?, [reference::check(&stamped, 43)]);
    Ok(())
}

// Without it a typed launch could pass its arguments in the wrong order or to the wrong
// kernel. 12.2 cannot tell parameter sizes, 11.4 has no newer entry points at all.
#[test]
fn every_kernel_agrees_with_the_reference_on_every_driver() -> Result<()> {
    for version in [
        Version::new(13, 0),
        Version::new(12, 2),
        Version::new(11, 4),
    ] {
        all_kernels(&Bench::new(version)?)?;
    }
    Ok(())
}

// Without it an empty chunk, which a pipeline can have, would be an invalid launch.
#[test]
fn nothing_is_a_valid_input() -> Result<()> {
    let bench = Bench::new(Version::new(13, 0))?;
    let (bytes, floats) = (bench.upload::<u8>(&[])?, bench.upload::<f32>(&[])?);
    let mut counts = bench.upload(&[3_u64; 256])?;
    bench
        .kernels
        .histogram(&bytes, &mut counts, &bench.stream)?;
    assert_eq!(bench.download(&counts)?, [3; 256]);
    let mut crc = bench.upload(&[9_u32])?;
    bench.kernels.crc32(&bytes, &mut crc, &bench.stream)?;
    assert_eq!(bench.download(&crc)?, [0]);
    let mut none = bench.upload::<f32>(&[])?;
    bench
        .kernels
        .saxpy(1.0, &floats, &mut none, &bench.stream)?;
    bench
        .kernels
        .scale(1.0, &floats, &mut none, &bench.stream)?;
    assert_eq!(bench.sum::<f32>(&[])?.to_bits(), 0);
    let mut block = bench.upload::<u8>(&[])?;
    bench.kernels.stamp(&mut block, 1, &bench.stream)?;
    ops::synchronize(&bench.stream)
}

// Without it a kernel could write past a view that is too short.
#[test]
fn views_of_the_wrong_length_are_refused() -> Result<()> {
    let bench = Bench::new(Version::new(13, 0))?;
    let (kernels, stream) = (&bench.kernels, &bench.stream);
    let bytes = bench.upload(&[0_u8; 10])?;
    let x = bench.upload(&[0_f32; 10])?;
    let mut y = bench.upload(&[0_f32; 9])?;
    let mut counts = bench.upload(&[0_u64; 255])?;
    let mut crcs = bench.upload(&[0_u32; 2])?;
    let many = bench.upload(&vec![0_u64; 5000])?;
    let mut scratch = ReduceScratch::new(&bench.pool, stream)?;
    let mut total = bench.upload(&[0_u64; 2])?;
    let refused = |result: Result<()>, name: &str| match result {
        Err(Error::Invalid { field, .. }) => assert_eq!(field, name),
        other => panic!("{name}: {other:?}"),
    };
    refused(kernels.histogram(&bytes, &mut counts, stream), "counts");
    refused(kernels.crc32(&bytes, &mut crcs, stream), "crc");
    refused(kernels.saxpy(1.0, &x, &mut y, stream), "y");
    refused(kernels.scale(1.0, &x, &mut y, stream), "output");
    refused(
        kernels.reduce_sum(&many, &mut scratch, &mut total, stream),
        "total",
    );
    refused(kernels.check(&bytes, 0, &mut counts, stream), "wrong");
    Ok(())
}

// Without it a sum could take its temporary buffer from nowhere, or keep it.
#[test]
fn a_sum_takes_its_temporary_buffer_from_the_current_runtime() -> Result<()> {
    let bench = Bench::new(Version::new(13, 0))?;
    let values: Vec<u64> = (0..100_000).map(|i| i * i).collect();
    let input = bench.upload(&values)?;
    let mut total = bench.upload(&[0u64])?;
    let refused = bench.kernels.sum(&input, &mut total);
    assert_eq!(refused, Err(Error::NoRuntime));
    let runtime = RuntimeContext::builder(&bench.context)
        .pool_limit(8 << 20)
        .build()?;
    ops::synchronize(&bench.stream)?;
    let guard = runtime.enter();
    bench.kernels.sum(&input, &mut total)?;
    ops::synchronize(runtime.stream())?;
    assert_eq!(bench.download(&total)?, [values.iter().sum::<u64>()]);
    let usage = runtime.pool().usage()?;
    assert!(usage.peak_held >= REDUCE_SCRATCH_BYTES as u64, "{usage:?}");
    assert_eq!(usage.live, 0);
    runtime.pool().set_limit(0)?;
    let refused = bench.kernels.sum(&input, &mut total);
    assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
    drop((guard, runtime, input, total));
    let machine = bench.machine.clone();
    drop(bench);
    assert_eq!(machine.leaks(), None);
    Ok(())
}

// Without it the kernels' code would stay loaded after the last use, or go before it.
#[test]
fn kernels_are_unloaded_with_their_last_clone() -> Result<()> {
    let bench = Bench::new(Version::new(13, 0))?;
    let modules = bench.context.modules().live();
    assert_ne!(modules, 0);
    let Bench {
        kernels,
        pool,
        stream,
        context,
        execution,
        machine,
    } = bench;
    let clone = kernels.clone();
    drop(kernels);
    let mut block = pool.allocate(100, &stream)?;
    clone.stamp(&mut block, 7, &stream)?;
    ops::synchronize(&stream)?;
    assert_eq!(context.modules().live(), modules, "the clone has them");
    drop((block, clone));
    assert_eq!(context.modules().live(), 0);
    drop((pool, stream, context));
    let watch = execution.watch();
    drop(execution);
    assert!(watch.live().is_empty(), "{:?}", watch.live());
    assert_eq!(machine.leaks(), None);
    Ok(())
}
