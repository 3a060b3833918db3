//! The trace and the picture of a run, read as their readers read them.

use std::collections::BTreeMap;

use cupola_managers::pipeline::{OverlapReport, PipelineConfig, Timeline};
use cupola_sim::{DeviceConfig, Machine, Order};
use serde_json::Value;

use super::{LEN, TestBench, pipeline, run};

/// A run on a device in virtual time, whose stages take a millisecond each.
fn timeline(items: u64) -> (Timeline, OverlapReport) {
    let bandwidth = (LEN * size_of::<u32>()) as u64 * 1000;
    let device = DeviceConfig::new()
        .copy_engines(2)
        .upload_bandwidth(bandwidth)
        .download_bandwidth(bandwidth)
        .memory_bandwidth(bandwidth);
    let machine = Machine::builder().device(device).order(Order::Timed);
    let config = PipelineConfig::new(LEN, LEN).measured();
    let (_bench, mut pipeline) = pipeline(TestBench::on(machine), config);
    let report = run(&mut pipeline, items, None).unwrap();
    let timeline = pipeline.timeline().unwrap().clone();
    (timeline, report.overlap.unwrap())
}

/// Start, end and name.
type Slice = (u64, u64, String);

fn number(event: &Value, field: &str) -> u64 {
    event[field]
        .as_u64()
        .unwrap_or_else(|| panic!("{field} of {event}"))
}

/// Nanoseconds of a field in microseconds.
fn nanoseconds(event: &Value, field: &str) -> u64 {
    (event[field]
        .as_f64()
        .unwrap_or_else(|| panic!("{field} of {event}"))
        * 1e3)
        .round() as u64
}

// Without it a trace could be no JSON, draw items over each other, show less overlap than there was, or
// have arrows that lead nowhere.
#[test]
fn a_trace_shows_what_the_report_says() {
    const ITEMS: u64 = 300;
    let (timeline, report) = timeline(ITEMS);
    let mut text = Vec::new();
    timeline.write_chrome_trace(&mut text).unwrap();
    let trace: Value = serde_json::from_slice(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let mut names = BTreeMap::new();
    // Slices of each track, and the arrows of each item.
    let mut tracks: BTreeMap<(u64, u64), Vec<Slice>> = BTreeMap::new();
    let mut arrows: BTreeMap<u64, Vec<(String, u64, u64)>> = BTreeMap::new();
    for event in events {
        let track = (number(event, "pid"), number(event, "tid"));
        let name = || event["name"].as_str().unwrap().to_owned();
        match event["ph"].as_str().unwrap() {
            "M" => {
                names.insert((name(), track), event["args"]["name"].as_str().unwrap());
            }
            "X" => {
                let (from, long) = (nanoseconds(event, "ts"), nanoseconds(event, "dur"));
                let slices = tracks.entry(track).or_default();
                slices.push((from, from + long, name()));
            }
            arrow => {
                let at = nanoseconds(event, "ts");
                let parts = arrows.entry(number(event, "id")).or_default();
                parts.push((arrow.to_owned(), track.1, at));
            }
        }
    }
    let thread = |track| names.get(&("thread_name".to_owned(), track)).copied();
    let stages = [1, 2, 3].map(|track| thread((1, track)).unwrap());
    assert_eq!(stages, ["upload", "compute", "download"]);
    assert_eq!(thread((2, 1)), Some("slot 0"));
    assert_eq!(thread((2, 4)), None);

    // By stage: each item once, in order, none over another.
    let mut sums = Vec::new();
    for track in 1..=3 {
        let slices = &tracks[&(1, track)];
        let found: Vec<&str> = slices.iter().map(|(.., name)| name.as_str()).collect();
        let expected: Vec<String> = (0..ITEMS).map(|item| format!("item {item}")).collect();
        assert_eq!(found, expected);
        assert!(
            slices.windows(2).all(|pair| pair[0].1 <= pair[1].0),
            "{track}"
        );
        sums.push(slices.iter().map(|(from, to, _)| to - from).sum::<u64>());
    }
    let near = |found: u64, expected: std::time::Duration| {
        let expected = expected.as_nanos() as f64;
        assert!(
            (found as f64 / expected - 1.0).abs() < 0.01,
            "{found}, not {expected}"
        );
    };
    near(sums[0], report.upload);
    near(sums[1], report.compute);
    near(sums[2], report.download);
    // Time in which two or more stages have a slice.
    let mut changes: Vec<(u64, i32)> = Vec::new();
    for track in 1..=3 {
        for (from, to, _) in &tracks[&(1, track)] {
            changes.extend([(*from, 1), (*to, -1)]);
        }
    }
    changes.sort_unstable();
    let (mut active, mut last, mut shared) = (0, 0, 0);
    for (at, change) in changes {
        shared += if active > 1 { at - last } else { 0 };
        active += change;
        last = at;
    }
    near(shared, report.shared);

    // By slot: an item around its three stages.
    for track in 1..=3 {
        for item in tracks[&(2, track)].chunks(4) {
            let (from, to, name) = &item[0];
            assert!(name.starts_with("item "), "{name}");
            let inside = |part: &Slice| *from <= part.0 && part.1 <= *to;
            assert!(item[1..].iter().all(inside), "{item:?}");
        }
    }
    assert_eq!(arrows.len() as u64, ITEMS);
    for (item, parts) in &arrows {
        let kinds: Vec<(&str, u64)> = parts.iter().map(|part| (&*part.0, part.1)).collect();
        assert_eq!(kinds, [("s", 1), ("t", 2), ("f", 3)]);
        for (_, track, at) in parts {
            let slice = &tracks[&(1, *track)][*item as usize];
            assert!(slice.0 <= *at && *at <= slice.1, "{item}");
        }
    }
}

/// The elements of a document, each with its attributes as text; panics where it is not well formed.
fn elements(document: &str) -> Vec<(String, String)> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    let mut rest = document;
    while let Some(start) = rest.find('<') {
        let (text, tag) = rest.split_at(start);
        assert!(!text.contains('>') && !text.contains('&'), "{text}");
        let (inside, after) = tag[1..].split_once('>').expect("a tag ends");
        assert!(inside.matches('"').count() % 2 == 0, "{inside}");
        assert!(!inside.contains('<'), "{inside}");
        let (name, attributes) = inside.split_once(' ').unwrap_or((inside, ""));
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop().as_deref(), Some(name)),
            None => {
                let name = name.trim_end_matches('/').to_owned();
                all.push((name.clone(), attributes.trim_end_matches('/').to_owned()));
                if !inside.ends_with('/') {
                    open.push(name);
                }
            }
        }
        rest = after;
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
    all
}

/// The value of an attribute.
fn attribute(attributes: &str, name: &str) -> f64 {
    let (_, after) = attributes.split_once(&format!("{name}=\"")).unwrap();
    after.split('"').next().unwrap().parse().unwrap()
}

// Without it a picture could be one that no browser opens, miss items, or draw them outside of it.
#[test]
fn a_picture_shows_each_stage_of_each_item() {
    let (timeline, _) = timeline(40);
    let svg = timeline.svg();
    let all = elements(&svg);
    let count = |name: &str| all.iter().filter(|(found, _)| found == name).count();
    assert_eq!(
        (count("svg"), count("style"), count("title")),
        (1, 1, 3 * 40)
    );
    let width = attribute(&all[0].1, "width");
    let height = attribute(&all[0].1, "height");
    let boxes = all
        .iter()
        .filter(|(_, attributes)| attributes.contains("class=\"box\""));
    let mut fills = std::collections::BTreeSet::new();
    for (_, at) in boxes {
        let [x, y] = ["x", "y"].map(|name| attribute(at, &format!(" {name}")));
        assert!(x >= 0.0 && x + attribute(at, "width") <= width, "{at}");
        assert!(y >= 0.0 && y + attribute(at, "height") <= height, "{at}");
        fills.insert(at.split("fill=").nth(1).unwrap().to_owned());
    }
    // One for each slot.
    assert_eq!(fills.len(), 3);
    for words in [
        "upload",
        "compute",
        "download",
        "slot 2",
        "0 ms",
        "items 0 to 39",
        "prefers-color-scheme: dark",
    ] {
        assert!(svg.contains(words), "{words}");
    }
    // Times of 300 items count from two events.
    let (timeline, _) = self::timeline(300);
    assert!(timeline.svg().contains("items 0 to 299, from 0.000 ms on"));
    // Nothing, and one item, are pictures too.
    for items in [0, 1] {
        let config = PipelineConfig::new(LEN, LEN).measured();
        let (_bench, mut pipeline) = pipeline(TestBench::new(), config);
        run(&mut pipeline, items, None).unwrap();
        let all = elements(&pipeline.timeline().unwrap().svg());
        let titles = all.iter().filter(|(name, _)| name == "title").count();
        assert_eq!(titles as u64, 3 * items);
    }
}
