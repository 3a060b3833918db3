//! Profiles of kernels, on any device.

use cupola_kernels::Kernels;
use cupola_kernels::profile::{Cost, Launches, ProfileConfig, Profiler, Summary};
use cupola_managers::Error;
use serde_json::Value;

use super::common::Bench;

const ELEMENTS: usize = 1 << 16;

fn config(repetitions: u32) -> ProfileConfig {
    ProfileConfig {
        warm_up: 2,
        repetitions,
        launches: Launches::Exactly(3),
    }
}

// Without it samples could be left out, statistics be of others, or the text and the JSON say another
// thing.
#[test]
fn a_profile_has_its_samples_and_says_so_in_every_form() {
    let bench = Bench::open();
    let info = bench.device.info().unwrap();
    let kernels = Kernels::load(&bench.context, info).unwrap();
    let profiler = Profiler::new(&bench.context, info)
        .unwrap()
        .config(config(150));
    let x = bench
        .pool
        .upload(&[1.0_f32; ELEMENTS], profiler.stream())
        .unwrap();
    let mut y = bench
        .pool
        .zeros::<f32>(ELEMENTS, profiler.stream())
        .unwrap();
    let elements = ELEMENTS as u64;
    let cost = Cost::new().bytes(12 * elements).flops(2 * elements);
    let mut launched = 0;
    let profile = profiler.profile("sax\"py", cost, |stream| {
        launched += 1;
        kernels.saxpy(1.0, &x, &mut y, stream)
    });
    let profile = profile.unwrap();
    // Two to warm up, three each, and one before each 85 samples.
    assert_eq!(launched, 2 + 3 * 150 + 2);
    let values = y.to_vec(profiler.stream()).unwrap();
    assert_eq!(values, [launched as f32; ELEMENTS], "each has run once");
    assert_eq!(profile.samples.len(), 150);
    let execute: Vec<_> = profile
        .samples
        .iter()
        .map(|sample| sample.execute)
        .collect();
    assert_eq!(Some(profile.execute), Summary::of(&execute));
    assert!(profile.execute.min <= profile.execute.median);
    assert!(profile.launch.min <= profile.launch.p99);
    let bandwidth = profile.bandwidth().unwrap();
    let expected = 12.0 * elements as f64 / profile.execute.median.as_secs_f64();
    assert!((bandwidth / expected - 1.0).abs() < 1e-9);
    let words = profile.to_string();
    assert!(
        words.contains("150 samples of 3 launches, after 2"),
        "{words}"
    );
    assert_eq!(
        words.contains("waited for launches"),
        profile.is_launch_bound()
    );

    let mut text = Vec::new();
    profile.write_json(&mut text).unwrap();
    let read: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(read["label"], "sax\"py");
    assert_eq!(read["samples"].as_array().unwrap().len(), 150);
    let median = read["execute"]["median"].as_u64().map(u128::from);
    assert_eq!(median, Some(profile.execute.median.as_nanos()));
    assert_eq!(
        read["bandwidth_share"].as_f64().is_some(),
        profile.bandwidth_share().is_some()
    );
    bench.finish_after((x, y, kernels, profiler));
}

// Without it a profile could be one of nothing, or the error of a launch be lost.
#[test]
fn a_profile_of_nothing_and_one_that_fails_are_refused() {
    let bench = Bench::open();
    let info = bench.device.info().unwrap();
    let profiler = Profiler::new(&bench.context, info)
        .unwrap()
        .config(config(0));
    let refused = profiler.profile("nothing", Cost::new(), |_| Ok(()));
    assert!(matches!(
        refused,
        Err(Error::Invalid {
            field: "repetitions",
            ..
        })
    ));
    let profiler = profiler.config(config(5));
    let mut left = 9;
    let failed = profiler.profile("nothing", Cost::new(), |_| {
        left -= 1;
        if left == 0 {
            Err(Error::NoRuntime)
        } else {
            Ok(())
        }
    });
    assert_eq!(failed, Err(Error::NoRuntime));
    bench.finish_after(profiler);
}
