//! The parser against honest and hostile bytes.

use quickcheck::{Arbitrary, Gen, QuickCheck};

use super::*;

const LIMIT: u32 = 1000;

impl Arbitrary for Message {
    fn arbitrary(g: &mut Gen) -> Self {
        let bytes = |g: &mut Gen| {
            let mut bytes = Vec::arbitrary(g);
            bytes.truncate(LIMIT as usize);
            bytes
        };
        let trouble = |g: &mut Gen| Trouble {
            lost: bool::arbitrary(g),
            panicked: bool::arbitrary(g),
            class: *g.choose(&CLASSES).unwrap(),
            code: Arbitrary::arbitrary(g),
            text: Arbitrary::arbitrary(g),
        };
        let sequence = u64::arbitrary(g);
        match u8::arbitrary(g) % 5 {
            0 => Self::Ready,
            1 => Self::NotOpened(trouble(g)),
            2 => Self::Item {
                sequence,
                attempt: Arbitrary::arbitrary(g),
                bytes: bytes(g),
            },
            3 => Self::Done {
                sequence,
                bytes: bytes(g),
            },
            _ => Self::Failed {
                sequence,
                trouble: trouble(g),
            },
        }
    }
}

fn hello() -> Message {
    Message::Hello(Hello {
        limit: 77,
        process: 4711,
        job: "scale".into(),
    })
}

/// Gives `bytes` to a decoder in parts of the given sizes, over and over.
fn decode(bytes: &[u8], cuts: Vec<u8>) -> Result<Vec<Message>, FrameError> {
    let (mut decoder, mut messages, mut at) = (Decoder::new(LIMIT), Vec::new(), 0);
    let mut cuts = cuts.into_iter().map(|cut| usize::from(cut) + 1).cycle();
    while at < bytes.len() {
        let end = bytes.len().min(at + cuts.next().unwrap_or(usize::MAX - at));
        let mut input = &bytes[at..end];
        at = end;
        while let Some(message) = decoder.take(&mut input)? {
            messages.push(message);
        }
        assert!(input.is_empty(), "what was not decoded is kept");
    }
    let decoded: usize = messages.iter().map(|message| message.encode().len()).sum();
    assert_eq!(decoder.kept(), bytes.len() - decoded);
    Ok(messages)
}

// Without it an item could arrive changed, or be lost where a read ends in mid-frame.
#[test]
fn what_was_encoded_is_decoded_however_it_is_cut() {
    fn property(mut messages: Vec<Message>, cuts: Vec<u8>) {
        messages.insert(0, hello());
        let bytes: Vec<u8> = messages.iter().flat_map(Message::encode).collect();
        assert_eq!(decode(&bytes, cuts).unwrap(), messages);
    }
    QuickCheck::new().quickcheck(property as fn(Vec<Message>, Vec<u8>));
}

// Without it bytes that are no frames could be taken for some, or end in a panic.
#[test]
fn whatever_is_decoded_is_what_its_bytes_say() {
    fn property(start: Vec<Message>, changes: Vec<(usize, u8)>, tail: Vec<u8>, cuts: Vec<u8>) {
        let mut bytes = hello().encode();
        bytes.extend(start.into_iter().flat_map(|message| message.encode()));
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.extend(tail);
        if let Ok(messages) = decode(&bytes, cuts) {
            let again: Vec<u8> = messages.iter().flat_map(Message::encode).collect();
            assert!(bytes.starts_with(&again), "{messages:?}");
        }
    }
    QuickCheck::new()
        .tests(2000)
        .quickcheck(property as fn(Vec<Message>, Vec<(usize, u8)>, Vec<u8>, Vec<u8>));
}

// Without it a changed layout would be noticed only when two builds meet.
#[test]
fn the_layout_is_fixed() {
    assert_eq!(
        item_head(0x0102, 3, 5),
        [5, 0, 0, 0, 4, 0, 3, 0, 2, 1, 0, 0, 0, 0, 0, 0]
    );
    assert_eq!(
        done_head(9, 0),
        [0, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]
    );
    let frame = hello().encode();
    assert_eq!(frame[..4], 25u32.to_le_bytes());
    assert_eq!(&frame[16..24], b"cupolawk");
    assert_eq!(&frame[36..], b"scale");
}

// Without it each refusal below could be another one, or none.
#[test]
fn refusals_say_what_is_wrong() {
    let refused = |bytes: &[u8]| decode(bytes, Vec::new()).unwrap_err();
    let with = |at: usize, byte: u8| {
        let mut frame = hello().encode();
        frame[at] = byte;
        refused(&frame)
    };
    assert_eq!(refused(b"GET / HTTP/1.1\r\n\r\n"), FrameError::NotAWorker);
    assert_eq!(with(16, b'C'), FrameError::NotAWorker);
    let (theirs, ours) = (2, VERSION);
    assert_eq!(with(24, 2), FrameError::Version { theirs, ours });
    assert_eq!(with(36, 0xff), FrameError::Malformed("a text is not UTF-8"));
    assert!(matches!(with(2, 1), FrameError::TooLong { .. }));
    let twice = [hello().encode(), hello().encode()].concat();
    assert_eq!(refused(&twice), FrameError::Unexpected("a second hello"));
    let long = [hello().encode(), done_head(1, LIMIT + 1).to_vec()].concat();
    let (bytes, limit) = (LIMIT + 1, LIMIT);
    assert_eq!(refused(&long), FrameError::TooLong { bytes, limit });
}

// Without it a text of any length could come in the place of an item's result.
#[test]
fn a_long_text_is_cut_between_characters() {
    let trouble = Trouble {
        lost: true,
        panicked: false,
        class: ErrorClass::StickyProcess,
        code: Some(700),
        text: "ä".repeat(CONTROL_LIMIT),
    };
    let back = Trouble::decode(&trouble.encode()).unwrap();
    assert!(trouble.text.starts_with(&back.text) && back.text.len() > CONTROL_LIMIT - 12);
    assert_eq!((back.code, back.class), (trouble.code, trouble.class));
}
