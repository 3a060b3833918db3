//! Pictures of small pools, and of any numbers and texts at all.

use std::ops::Range;

use super::*;

const MIB: u64 = 1 << 20;
const BASE: u64 = 0x7f00_0000_0000;

/// Names of elements in order; panics where the text is not well formed.
fn elements(svg: &str) -> Vec<String> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        let (text, tag) = rest.split_at(start);
        assert!(!text.contains('>'), "{text}");
        for entity in text.split('&').skip(1) {
            let name = entity.split(';').next().unwrap();
            assert!(["amp", "lt", "gt", "quot", "#39"].contains(&name), "{text}");
        }
        let end = tag.find('>').expect("a tag ends");
        let inside = &tag[1..end];
        assert!(
            !inside.contains('<') && inside.matches('"').count() % 2 == 0,
            "{inside}"
        );
        let name = inside
            .trim_matches('/')
            .split(' ')
            .next()
            .unwrap()
            .to_owned();
        if inside.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else {
            if !inside.ends_with('/') {
                open.push(name.clone());
            }
            all.push(name);
        }
        rest = &tag[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
    all
}

fn block(range: Range<u64>, state: State, label: &str) -> Block {
    Block {
        range,
        state,
        stream: Some(3),
        label: label.into(),
    }
}

/// The region's first bytes.
fn first(bytes: u64) -> Range<u64> {
    BASE..BASE + bytes
}

fn region(mapped: Vec<Range<u64>>, blocks: Vec<Block>) -> Picture {
    Picture {
        title: "a pool".into(),
        notes: vec!["limit 1 < 2".into()],
        regions: vec![Region {
            name: "pages".into(),
            base: BASE,
            bytes: 1 << 40,
            mapped,
            blocks,
        }],
    }
}

/// Without it a block could be drawn in another place, size or colour than its own.
#[test]
fn a_block_is_where_its_addresses_are() {
    let picture = region(
        vec![first(2 * MIB)],
        vec![
            block(BASE + MIB..BASE + MIB + MIB / 2, State::Live, "weights"),
            block(BASE..BASE + MIB / 4, State::Pending, ""),
        ],
    );
    let svg = picture.svg();
    // A row is 2 MiB in 1024 pixels, from 170 on.
    let live = svg
        .lines()
        .find(|line| line.contains("weights</title>"))
        .unwrap();
    assert!(
        live.contains("x=\"682.00\"") && live.contains("width=\"256.00\""),
        "{live}"
    );
    assert!(live.contains("#7fb3d5"), "{live}");
    assert!(
        live.contains("512.00 KiB at 0x7f0000100000: live, stream 3 weights"),
        "{live}"
    );
    let pending = svg.lines().find(|line| line.contains(": pending")).unwrap();
    assert!(pending.contains("x=\"170.00\"") && pending.contains("width=\"128.00\""));
    assert!(svg.contains(">weights</text>"));
    assert!(svg.contains("mapped 2.00 MiB; live 512.00 KiB in 1 blocks; pending 256.00 KiB"));
    assert!(svg.contains("limit 1 &lt; 2"));
    assert!(svg.contains("stream 3"));
    let gap = svg
        .lines()
        .filter(|line| line.contains("not mapped</text>"));
    assert_eq!(gap.count(), 2, "the legend and the rest of the terabyte");
    elements(&svg);
}

/// Without it memory that belongs to no stream could be drawn as one's.
#[test]
fn what_is_of_no_stream_is_drawn_so() {
    let stray = Block {
        stream: None,
        ..block(first(MIB), State::Cached, "")
    };
    let svg = region(vec![first(2 * MIB)], vec![stray]).svg();
    assert!(svg.contains(": cached, no stream<"), "{svg}");
    assert!(
        !svg.contains("stream 0") && !svg.contains("stream 3"),
        "{svg}"
    );
}

/// Without it a name could end the document or put a script into it.
#[test]
fn texts_are_escaped() {
    let label = "</title><script>alert(\"1\" & '2')</script>\u{1}";
    let mut picture = region(
        vec![first(2 * MIB)],
        vec![block(BASE..BASE + 2 * MIB, State::Cached, label)],
    );
    picture.title = label.into();
    picture.regions[0].name = label.into();
    let svg = picture.svg();
    assert!(!elements(&svg).contains(&"script".to_owned()));
    assert!(!svg.contains('\u{1}'));
}

/// Without it a block that goes on in the next row could end at the first one's.
#[test]
fn a_block_is_drawn_in_every_row_that_it_reaches() {
    let picture = region(
        vec![first(8 * MIB)],
        vec![
            block(BASE + MIB..BASE + 7 * MIB, State::Live, ""),
            block(BASE + 7 * MIB..BASE + 8 * MIB, State::Cached, ""),
        ],
    );
    let svg = picture.svg();
    let parts = svg
        .lines()
        .filter(|line| line.contains(": live"))
        .collect::<Vec<_>>();
    let widths = ["512.00", "1024.00", "1024.00", "512.00"];
    assert_eq!(parts.len(), 4);
    for (part, width) in parts.iter().zip(widths) {
        assert!(part.contains(&format!("width=\"{width}\"")), "{part}");
    }
}

/// Without it a pool of a million blocks could make a picture that nothing opens, or a
/// reservation of a terabyte one of half a million rows.
#[test]
fn pictures_stay_small() {
    let blocks = (0..1_000_000).map(|index| {
        let start = BASE + index * 4096;
        block(start..start + 2048, State::Live, "")
    });
    let picture = region(vec![first(4 << 30)], blocks.collect());
    let svg = picture.svg();
    assert!(svg.len() < 4 << 20, "{}", svg.len());
    assert!(svg.contains("live 1.91 GiB in 1000000 blocks"));
    // No two neighbours alike, and each of half a pixel.
    for bytes in [4096, 1 << 15] {
        let blocks = (0..1_000_000).map(|index| {
            let start = BASE + index * bytes;
            let state = State::ALL[index as usize % 3];
            Block {
                stream: Some(index % 7),
                ..block(start..start + bytes, state, "")
            }
        });
        let svg = region(vec![first(bytes * 1_000_000)], blocks.collect()).svg();
        assert!(svg.len() < 4 << 20, "{bytes}: {}", svg.len());
        assert!(svg.contains("in 333334 blocks"));
        elements(&svg);
    }
    let scattered = (0..10_000).map(|index| {
        let start = BASE + index * 64 * MIB;
        start..start + 2 * MIB
    });
    let svg = region(scattered.collect(), Vec::new()).svg();
    assert!(svg.len() < 4 << 20, "{}", svg.len());
    assert!(elements(&Picture::default().svg()).contains(&"svg".to_owned()));
}

/// Without it what is drawn as one could be taken for something that it is not.
#[test]
fn blocks_drawn_as_one_are_told_apart_in_words() {
    let many = |states: &'static [State], stream: fn(u64) -> u64| {
        let blocks = (0..64).map(|index| {
            let start = BASE + index * 64;
            // Most bytes are live.
            let bytes = if index % 2 == 0 { 64 } else { 32 };
            Block {
                stream: Some(stream(index)),
                ..block(
                    start..start + bytes,
                    states[index as usize % states.len()],
                    "a",
                )
            }
        });
        region(vec![first(2 * MIB)], blocks.collect()).svg()
    };
    let alike = many(&[State::Cached], |_| 3);
    assert!(
        alike.contains("64 blocks, 3.00 KiB from 0x7f0000000000 on: cached, stream 3 a<"),
        "{alike}"
    );
    let mixed = many(&[State::Live, State::Cached], |index| index % 2);
    let words = "17 blocks, 832 bytes from 0x7f0000000000 on: 9 live (576 bytes), 8 cached \
                 (256 bytes), several streams a<";
    let run = mixed.lines().find(|line| line.contains(words));
    assert!(run.is_some_and(|run| run.contains("#7fb3d5")), "{mixed}");
    // Wide ones stay what they are.
    let wide = (0..4).map(|index| {
        let start = BASE + index * MIB / 2;
        block(start..start + MIB / 2, State::ALL[index as usize % 2], "")
    });
    let svg = region(vec![first(2 * MIB)], wide.collect()).svg();
    assert_eq!(svg.matches("512.00 KiB at 0x").count(), 4, "{svg}");
}

/// Without it what the colours mean could stand outside of the visible part.
#[test]
fn the_legend_is_within_the_picture() {
    for streams in [1, 8, 9, 1000] {
        let blocks = (0..streams).map(|index| Block {
            stream: Some(u64::MAX - index),
            ..block(
                BASE + index * 512..BASE + index * 512 + 512,
                State::Live,
                "",
            )
        });
        let svg = region(vec![first(2 * MIB)], blocks.collect()).svg();
        let number = |line: &str, name: &str| -> f64 {
            let (_, rest) = line.split_once(&format!(" {name}=\"")).unwrap();
            rest.split('"').next().unwrap().parse().unwrap()
        };
        let width = number(svg.lines().next().unwrap(), "width");
        let mut lines = Vec::new();
        for text in svg.lines().filter(|line| line.contains("font-size=\"11\"")) {
            let words = text.split(['>', '<']).nth(2).unwrap();
            let end = number(text, "x") + 6.6 * words.len() as f64;
            assert!(end <= width, "{text}");
            lines.push(number(text, "y"));
        }
        assert!(lines.is_sorted() && lines.len() == 5 + 9.min(streams as usize));
        let rows = svg.lines().find(|line| line.contains("reserved<")).unwrap();
        assert!(lines.last() < Some(&number(rows, "y")));
    }
}

#[derive(Clone, Debug)]
struct Any(Picture);

impl quickcheck::Arbitrary for Any {
    fn arbitrary(g: &mut quickcheck::Gen) -> Self {
        fn range(g: &mut quickcheck::Gen) -> Range<u64> {
            let bits = u32::arbitrary(g) % 64;
            u64::arbitrary(g) >> bits..u64::arbitrary(g) >> (u32::arbitrary(g) % 64)
        }
        let regions = (0..u8::arbitrary(g) % 4).map(|_| {
            let place = range(g);
            Region {
                name: String::arbitrary(g),
                base: place.start,
                bytes: place.end,
                mapped: (0..u8::arbitrary(g) % 9).map(|_| range(g)).collect(),
                blocks: (0..u8::arbitrary(g) % 9)
                    .map(|_| Block {
                        range: range(g),
                        state: *g.choose(&State::ALL).unwrap(),
                        stream: Option::arbitrary(g),
                        label: String::arbitrary(g),
                    })
                    .collect(),
            }
        });
        Self(Picture {
            regions: regions.collect(),
            title: String::arbitrary(g),
            notes: Vec::arbitrary(g),
        })
    }
}

quickcheck::quickcheck! {
    /// Without it some addresses could overflow or some text break the document.
    fn anything_is_drawn_well_formed(picture: Any) -> bool {
        let svg = picture.0.svg();
        !elements(&svg).is_empty() && !svg.contains("NaN") && !svg.contains("inf\"")
    }
}
