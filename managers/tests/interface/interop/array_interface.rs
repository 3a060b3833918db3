//! Arrays that are shown to Python libraries, and theirs.

use cupola_managers::Error;
use cupola_managers::interop::ArrayInterface;

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
    // SAFETY: the buffer outlives it, and the work is on its stream.
    let view = |shown: &ArrayInterface| unsafe { shown.view::<f32>() }.map(|it| it.len());
    assert_eq!(view(&shown), Ok(6));
    let change = |change: &dyn Fn(&mut ArrayInterface)| {
        let mut changed = shown.clone();
        change(&mut changed);
        view(&changed)
    };
    assert_eq!(change(&|it| it.strides = Some(vec![12, 4])), Ok(6));
    assert_eq!(change(&|it| it.shape = vec![0, 3]), Ok(0));
    let bad: [&dyn Fn(&mut ArrayInterface); 6] = [
        &|it| it.typestr = "<f8".into(),
        &|it| it.strides = Some(vec![4, 8]),
        &|it| it.strides = Some(vec![13, 4]),
        &|it| it.strides = Some(vec![4]),
        &|it| it.data = 0,
        &|it| it.data += 2,
    ];
    for (number, change_it) in bad.into_iter().enumerate() {
        assert!(
            matches!(change(change_it), Err(Error::Invalid { .. })),
            "{number}"
        );
    }
    assert!(ArrayInterface::of(&numbers, &[4], stream).is_err());
    drop(numbers);
    bench.finish();
}
