//! The kernel of the measurements: one launch, which works as long as it is told to.

use cupola::{MemoryPool, Stream};
use cupola_managers::buffer::{Buffer, DeviceSlice, DeviceSliceMut};
use cupola_managers::event::EventConfig;
use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{Context, Error};

/// `to[i]` is `from[i]` after so many rounds of `x = x * 0.75 + 0.5`.
const PTX: &str = "
    .version 6.0
    .target sm_60
    .address_size 64
    .visible .entry work(.param .u64 from, .param .u64 to, .param .u32 len, .param .u32 rounds) {
        .reg .pred %p<3>;
        .reg .f32 %f<2>;
        .reg .b32 %r<7>;
        .reg .b64 %d<6>;
        ld.param.u64 %d1, [from];
        ld.param.u64 %d2, [to];
        ld.param.u32 %r1, [len];
        ld.param.u32 %r2, [rounds];
        mov.u32 %r3, %ctaid.x;
        mov.u32 %r4, %ntid.x;
        mov.u32 %r5, %tid.x;
        mad.lo.u32 %r6, %r3, %r4, %r5;
        setp.ge.u32 %p1, %r6, %r1;
        @%p1 bra END;
        cvta.to.global.u64 %d1, %d1;
        cvta.to.global.u64 %d2, %d2;
        mul.wide.u32 %d3, %r6, 4;
        add.u64 %d4, %d1, %d3;
        add.u64 %d5, %d2, %d3;
        ld.global.f32 %f1, [%d4];
    AGAIN:
        setp.eq.u32 %p2, %r2, 0;
        @%p2 bra DONE;
        fma.rn.f32 %f1, %f1, 0f3F400000, 0f3F000000;
        sub.u32 %r2, %r2, 1;
        bra AGAIN;
    DONE:
        st.global.f32 [%d5], %f1;
    END:
        ret;
    }
";

const THREADS: u32 = 256;

/// Launches that are timed together: what an event costs disappears.
const LAUNCHES: u32 = 16;

/// The kernel, loaded.
pub(super) struct Work(Function);

/// What a kernel is told to do, and how long that takes alone.
pub(super) struct Load {
    pub(super) rounds: u32,
    pub(super) us: f64,
}

impl Work {
    pub(super) fn load(context: &Context) -> Result<Self, Error> {
        Ok(Self(context.modules().load_ptx(PTX)?.function("work")?))
    }

    pub(super) fn function(&self) -> &Function {
        &self.0
    }

    /// How a kernel over so many elements is launched.
    pub(super) fn config(elements: usize) -> LaunchConfig {
        LaunchConfig::for_elements(elements as u64, THREADS)
    }

    /// Puts the kernel on `stream`.
    pub(super) fn put(
        &self,
        from: DeviceSlice<'_, f32>,
        to: DeviceSliceMut<'_, f32>,
        rounds: u32,
        stream: &Stream,
    ) -> Result<(), Error> {
        let elements = from.len().min(to.len());
        let arguments = (from, to, elements as u32, rounds);
        // SAFETY: the kernel takes two addresses and two 32-bit numbers, and touches the first
        // `elements` elements of both.
        unsafe { ops::launch(&self.0, Self::config(elements), arguments, stream) }
    }

    /// What the kernel makes of `value`.
    pub(super) fn expected(value: f32, rounds: u32) -> f32 {
        (0..rounds).fold(value, |value, _| value.mul_add(0.75, 0.5))
    }

    /// The number of rounds for which a kernel over so many elements takes about `us` microseconds.
    pub(super) fn tune(
        &self,
        context: &Context,
        pool: &MemoryPool,
        elements: usize,
        us: f64,
    ) -> Result<Load, Error> {
        let stream = context.streams().create(Default::default())?;
        let from: Buffer<f32> = pool.allocate(elements, &stream)?;
        let mut to: Buffer<f32> = pool.allocate(elements, &stream)?;
        let mut time = |rounds: u32| {
            timed(context, &stream, LAUNCHES, || {
                self.put(from.view(), to.view_mut(), rounds, &stream)
            })
        };
        // Warms up.
        time(64)?;
        let (mut few, mut many) = (0, 64);
        let (mut base, mut took) = (time(few)?, time(many)?);
        // Secants: the time is linear in the rounds, once they are many.
        for _ in 0..4 {
            let slope = ((took - base) / f64::from(many - few)).max(1e-6);
            let next = f64::from(many) + (us - took) / slope;
            let next = next.round().clamp(0.0, 1e6) as u32;
            if next == many {
                break;
            }
            let (at, taken) = (next, time(next)?);
            if at > many {
                (few, base) = (many, took);
                (many, took) = (at, taken);
            } else if at > few {
                (many, took) = (at, taken);
            } else {
                (few, base) = (at, taken);
            }
        }
        // The end nearer to what is wanted.
        let (rounds, us) = match (took - us).abs() <= (base - us).abs() {
            true => (many, took),
            false => (few, base),
        };
        Ok(Load { rounds, us })
    }
}

/// Microseconds of one of `times` calls of `put`, by two events of `stream` around all.
pub(super) fn timed(
    context: &Context,
    stream: &Stream,
    times: u32,
    mut put: impl FnMut() -> Result<(), Error>,
) -> Result<f64, Error> {
    let (start, end) = (
        context.events().create(EventConfig::timing())?,
        context.events().create(EventConfig::timing())?,
    );
    ops::record(&start, stream)?;
    for _ in 0..times {
        put()?;
    }
    ops::record(&end, stream)?;
    ops::synchronize_event(&end)?;
    Ok(f64::from(ops::elapsed(&start, &end)?) * 1e3 / f64::from(times))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a wrong item could pass for a right one: this is what items are compared with.
    #[test]
    fn rounds_are_counted() {
        assert_eq!(Work::expected(8.0, 0).to_bits(), 8.0f32.to_bits());
        assert_eq!(Work::expected(8.0, 2).to_bits(), 5.375f32.to_bits());
    }
}
