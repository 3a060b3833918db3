//! Arrays that are shown to Python libraries, and theirs.

use cupola_managers::interop::ArrayInterface;
use cupola_managers::{Error, ops};

use super::bench;

// Without it a Python library could be shown another array than there is, or one of its be read beyond its end.
#[test]
fn arrays_are_shown_as_python_shows_them() {
    let bench = bench();
    let stream = &bench.stream;
    let numbers = bench
        .pool
        .upload(&[1.5f32, 2.5, 3.5, 4.5, 5.5, 6.5], stream)
        .unwrap();
    let shown = ArrayInterface::of(&numbers, &[2, 3], stream).unwrap();
    let text = shown.to_string();
    let (address, raw) = (numbers.as_raw(), stream.as_raw().addr());
    assert_eq!(
        text,
        format!(
            "{{'version': 3, 'shape': (2, 3, ), 'typestr': '<f4', 'data': ({address}, False), 'strides': None, 'stream': {raw}}}"
        )
    );
    let twice = ArrayInterface::of(&numbers, &[4], stream);
    assert!(matches!(twice, Err(Error::Invalid { field: "shape", .. })));
    drop(numbers);
    bench.finish();
}

// Without it an array could be read as one of another type or order, beyond its end, or before it is ready.
#[test]
fn arrays_that_cannot_be_taken_are_refused() {
    type Change<'c> = &'c dyn Fn(&mut ArrayInterface);
    let bench = bench();
    let numbers = bench.pool.zeros::<f32>(6, &bench.stream).unwrap();
    let address = numbers.as_raw();
    let view = |change: Change<'_>| {
        let mut shown = ArrayInterface::new(3, &[2, 3], "<f4", address);
        change(&mut shown);
        // SAFETY: no work is given it.
        match unsafe { shown.view::<f32>() } {
            Ok(found) => Ok(found.len()),
            Err(Error::Invalid { field, .. }) => Err(field),
            Err(other) => panic!("{other}"),
        }
    };
    let good: [(Change<'_>, usize); 8] = [
        (&|_| {}, 6),
        (&|it| it.version = 2, 6),
        (&|it| it.version = 0, 6),
        (&|it| it.strides = Some(vec![12, 4]), 6),
        (&|it| it.stream = Some(2), 6),
        (&|it| (it.shape, it.data) = (vec![0, 3], 0), 0),
        (&|it| it.shape = vec![], 1),
        (&|it| it.is_read_only = true, 6),
    ];
    for (number, (change, len)) in good.into_iter().enumerate() {
        assert_eq!(view(change), Ok(len), "{number}");
    }
    let bad: [(&str, Change<'_>); 18] = [
        ("version", &|it| it.version = 4),
        ("mask", &|it| it.is_masked = true),
        ("stream", &|it| it.stream = Some(0)),
        ("typestr", &|it| it.typestr = "<f8".into()),
        ("typestr", &|it| it.typestr = ">f4".into()),
        ("typestr", &|it| it.typestr = "|V4".into()),
        ("typestr", &|it| it.typestr = String::new()),
        ("shape", &|it| it.shape = vec![u64::MAX, 2]),
        ("strides", &|it| it.strides = Some(vec![4, 8])),
        ("strides", &|it| it.strides = Some(vec![13, 4])),
        ("strides", &|it| it.strides = Some(vec![4])),
        ("strides", &|it| it.strides = Some(vec![-12, 4])),
        ("strides", &|it| it.strides = Some(vec![0, 4])),
        ("strides", &|it| it.strides = Some(vec![i64::MIN, i64::MAX])),
        ("data", &|it| it.data = 0),
        ("data", &|it| it.data += 2),
        ("data", &|it| it.data = u64::MAX - 3),
        // Below no address.
        ("data", &|it| {
            (it.data, it.strides) = (8, Some(vec![-12, 4]));
        }),
    ];
    for (number, (field, change)) in bad.into_iter().enumerate() {
        assert_eq!(view(change), Err(field), "{number}");
    }
    let mut shown = ArrayInterface::new(3, &[6], "<f4", address);
    shown.is_read_only = true;
    // SAFETY: no work is given it.
    let refused = unsafe { shown.view_mut::<f32>() };
    assert!(matches!(refused, Err(Error::Invalid { field: "data", .. })));
    shown.strides = Some(vec![6]);
    // SAFETY: no work is given it.
    let refused = unsafe { shown.view_strided::<f32>() };
    assert!(matches!(
        refused,
        Err(Error::Invalid {
            field: "strides",
            ..
        })
    ));
    drop(numbers);
    bench.finish();
}

// Without it an array that is backwards, or one value for all, could be read from beside its memory.
#[test]
fn an_array_of_any_strides_is_its_memory() {
    let bench = bench();
    let stream = &bench.stream;
    let numbers = bench.pool.upload(&[0u16, 1, 2, 3, 4, 5], stream).unwrap();
    let mut shown = ArrayInterface::new(3, &[3], "<u2", numbers.as_raw() + 8);
    shown.strides = Some(vec![-4]);
    // SAFETY: the buffer outlives it, and the work is on its stream.
    let backwards = unsafe { shown.view_strided::<u16>() }.unwrap();
    assert_eq!((backwards.first, &*backwards.strides), (4, &[-2][..]));
    let found = backwards.elements.to_vec(stream).unwrap();
    assert_eq!(found, [0, 1, 2, 3, 4]);
    shown.strides = Some(vec![0]);
    // SAFETY: as above.
    let same = unsafe { shown.view_strided::<u16>() }.unwrap();
    assert_eq!((same.first, &*same.strides), (0, &[0][..]));
    assert_eq!(same.elements.to_vec(stream).unwrap(), [4]);
    drop(numbers);
    bench.finish();
}

// Without it an array could be read, or written, before its producer's work on it is over.
#[test]
fn our_stream_waits_for_the_producers() {
    let bench = bench();
    let (context, theirs) = (&bench.base.context, bench.base.stream());
    let mut numbers = bench.pool.zeros::<u32>(64, &theirs).unwrap();
    ops::fill(&mut numbers, 5, &theirs).unwrap();
    let mut shown = ArrayInterface::new(3, &[64], "<u4", numbers.as_raw());
    shown.stream = Some(theirs.as_raw().addr() as u64);
    // SAFETY: the stream is alive; strict mode would find a race.
    unsafe { shown.order(context, &bench.stream) }.unwrap();
    // SAFETY: nothing else uses the array until the copies below are over.
    let view = unsafe { shown.view_mut::<u32>() }.unwrap();
    numbers.used_on(&bench.stream).unwrap();
    ops::fill(view.slice(32..).unwrap(), 6, &bench.stream).unwrap();
    // SAFETY: the buffer outlives it, and the work is on a stream that has waited.
    let found = unsafe { shown.view::<u32>() }.unwrap();
    let found = found.to_vec(&bench.stream).unwrap();
    assert_eq!((&found[..32], &found[32..]), (&[5; 32][..], &[6; 32][..]));
    for number in [None, Some(1), Some(2)] {
        shown.stream = number;
        // SAFETY: default streams are always there.
        unsafe { shown.order(context, &bench.stream) }.unwrap();
    }
    shown.stream = Some(0);
    // SAFETY: it is no stream.
    let refused = unsafe { shown.order(context, &bench.stream) };
    assert!(matches!(
        refused,
        Err(Error::Invalid {
            field: "stream",
            ..
        })
    ));
    drop((numbers, theirs));
    bench.finish();
}
