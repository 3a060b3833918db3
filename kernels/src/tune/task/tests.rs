use super::*;

fn device() -> TuneDevice {
    TuneDevice {
        name: "a device".into(),
        compute_capability: (9, 0),
        multiprocessors: 132,
        driver: Version::new(13, 0),
    }
}

fn task() -> TuneTask {
    TuneTask::of_code(b"code", "scale", ProblemClass::of_sizes(&[1000]))
}

fn labels() -> Vec<String> {
    vec!["a".into(), "b".into()]
}

fn key(change: impl FnOnce(&mut TuneTask, &mut TuneDevice, &mut Vec<String>)) -> Key {
    let (mut task, mut device, mut labels) = (task(), device(), labels());
    change(&mut task, &mut device, &mut labels);
    task.key(&device, &labels)
}

fn same() -> Key {
    key(|_, _, _| {})
}

// Without each of them a winner of other circumstances would be taken for this one's.
#[test]
fn the_device_counts() {
    assert_ne!(key(|_, device, _| device.name.push('!')), same());
    assert_ne!(
        key(|_, device, _| device.compute_capability = (0, 9)),
        same()
    );
    assert_ne!(key(|_, device, _| device.multiprocessors = 8), same());
}

#[test]
fn the_drivers_version_counts() {
    assert_ne!(
        key(|_, device, _| device.driver = Version::new(13, 1)),
        same()
    );
}

#[test]
fn the_kernel_counts() {
    let class = || ProblemClass::of_sizes(&[1000]);
    for other in [
        TuneTask::of_code(b"other", "scale", class()),
        TuneTask::of_code(b"code", "scales", class()),
        TuneTask::named("code", class()),
    ] {
        assert_ne!(key(|task, _, _| *task = other), same());
    }
    assert_eq!(
        key(|task, _, _| *task = TuneTask::of_code(b"code", "scale", class())),
        same()
    );
}

#[test]
fn the_class_counts() {
    let of = |class| TuneTask::of_code(b"code", "scale", class);
    assert_ne!(
        key(|task, _, _| *task = of(ProblemClass::of_sizes(&[1025]))),
        same()
    );
    assert_eq!(
        key(|task, _, _| *task = of(ProblemClass::of_sizes(&[1024]))),
        same()
    );
    assert_eq!(
        key(|task, _, _| *task = of(ProblemClass::named("2^10"))),
        same()
    );
}

#[test]
fn the_candidates_count() {
    assert_ne!(key(|_, _, labels| labels.push("c".into())), same());
    assert_ne!(key(|_, _, labels| labels.swap(0, 1)), same());
    assert_ne!(key(|_, _, labels| *labels = vec!["ab".into()]), same());
}

// Without it sizes at the ends of what there is would fall into a class of much smaller ones.
#[test]
fn sizes_are_classed_by_powers_of_two() {
    let class = |sizes: &[u64]| ProblemClass::of_sizes(sizes).to_string();
    assert_eq!(
        class(&[0, 1, 2, 3, 4, 1025]),
        "0 x 2^0 x 2^1 x 2^2 x 2^2 x 2^11"
    );
    assert_eq!(
        class(&[1 << 63, (1 << 63) + 1, u64::MAX]),
        "2^63 x 2^64 x 2^64"
    );
    assert_eq!(class(&[]), "");
}
