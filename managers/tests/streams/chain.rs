//! Kernels one after the other in a pipeline.

use cupola_managers::pipeline::{ItemStage, PipelineBuilder};
use cupola_managers::{Error, ops};

use super::bench;

// Without it a kernel could read another item's result, more than was written, or the memory of a
// later kernel.
#[test]
fn each_kernel_reads_what_the_one_before_it_has_written() {
    let bench = bench();
    let (mut pipeline, mut chain) = PipelineBuilder::upload::<u32>(64)
        .kernel::<u32>(64, |step| {
            let len = step.input.len();
            ops::copy(step.input, step.output.slice(..len)?, step.stream)?;
            Ok(len)
        })
        // Its first half, rounded up.
        .kernel::<u32>(32, |step| {
            let len = step.input.len().div_ceil(2);
            let input = step.input.slice(..len)?;
            ops::copy(input, step.output.slice(..len)?, step.stream)?;
            Ok(len)
        })
        .kernel::<u8>(128, |step| {
            let input = step.input.cast::<u8>()?;
            let len = input.len();
            ops::copy(input, step.output.slice(..len)?, step.stream)?;
            Ok(len)
        })
        .depth(4)
        .build(&bench.base.context, &bench.pool)
        .unwrap();
    let (mut filled, mut seen) = (0, 0);
    let len = |item: u32| (item * 7) as usize % 65;
    let report = pipeline
        .run::<Error>(
            |slot| {
                let item = filled;
                filled += 1;
                slot[..len(item)].fill(item * 0x0101_0101);
                Ok((item < 30).then_some(len(item)))
            },
            |step| chain.put(step),
            |item| {
                let len = len(seen).div_ceil(2) * 4;
                assert_eq!(item.output, vec![seen as u8; len]);
                seen += 1;
                Ok(())
            },
        )
        .unwrap();
    assert_eq!((report.items, seen), (30, 30));
    drop((pipeline, chain));
    assert_eq!(bench.base.machine.findings(), []);
}

// Without it the error of a chain would not say which of its kernels could not be put.
#[test]
fn an_error_names_the_kernel_of_the_chain() {
    let bench = bench();
    let failing = std::cell::Cell::new(None);
    let put = |position: usize, len: usize| match failing.get() {
        Some(failing) if failing == position => Err(Error::Full { kind: "test" }),
        _ => Ok(len),
    };
    let (mut pipeline, mut chain) = PipelineBuilder::upload::<u8>(8)
        .kernel::<u8>(8, |_| put(0, 8))
        .kernel::<u8>(8, |step| match failing.get() {
            // More than there is room for.
            Some(5) => Ok(9),
            _ => put(1, step.input.len()),
        })
        .kernel::<u8>(8, |step| {
            ops::zero(step.output, step.stream)?;
            put(2, step.input.len())
        })
        .build(&bench.base.context, &bench.pool)
        .unwrap();
    for (fail, position) in [(0, 0), (1, 1), (5, 1), (2, 2)] {
        failing.set(Some(fail));
        let input = pipeline.try_input().unwrap();
        let error = input.submit(8, |step| chain.put(step)).unwrap_err();
        assert_eq!(error.stage, ItemStage::Kernel(position));
        failing.set(None);
        let input = pipeline.try_input().unwrap();
        input.submit(8, |step| chain.put(step)).unwrap();
        assert_eq!(pipeline.output().unwrap().unwrap().output, [0; 8]);
    }
}

// Without it a pipeline that only moves data would need a kernel that does nothing.
#[test]
fn without_a_kernel_the_output_is_the_input() {
    let bench = bench();
    let (mut pipeline, mut chain) = PipelineBuilder::upload::<u16>(10)
        .measured()
        .build(&bench.base.context, &bench.pool)
        .unwrap();
    let mut input = pipeline.try_input().unwrap();
    input.fill(3);
    input.submit(7, |step| chain.put(step)).unwrap();
    assert_eq!(pipeline.output().unwrap().unwrap().output, [3; 7]);
    assert_eq!(pipeline.report().overlap.unwrap().items, 1);
}
