use quickcheck::{Arbitrary, Gen, quickcheck};

use super::*;

fn name(g: &mut Gen) -> String {
    let mut name = String::arbitrary(g);
    while name.len() >= MAX_NAME {
        name.pop();
    }
    name.push('n');
    name
}

fn description(g: &mut Gen) -> Vec<u8> {
    let mut bytes = Vec::<u8>::arbitrary(g);
    bytes.truncate(MAX_DESCRIPTION);
    bytes
}

fn rights(g: &mut Gen) -> Rights {
    *g.choose(&[Rights::Read, Rights::ReadWrite]).unwrap()
}

impl Arbitrary for Request {
    fn arbitrary(g: &mut Gen) -> Self {
        let number = u64::arbitrary(g);
        let opening = *g.choose(&[Opening::Mapped, Opening::Sleeping]).unwrap();
        match u8::arbitrary(g) % 10 {
            0 => Self::Hello {
                device: u128::arbitrary(g).to_le_bytes(),
            },
            1 => Self::Create {
                bytes: number,
                rights: rights(g),
                name: name(g),
            },
            2 => Self::Refill { name: name(g) },
            3 => Self::Seal {
                object: number,
                description: description(g),
            },
            4 => Self::Open {
                rights: rights(g),
                name: name(g),
            },
            5 => Self::Remove { name: name(g) },
            6 => Self::List,
            7 => Self::LetGo {
                object: number,
                opening,
            },
            8 => Self::Slept { object: number },
            _ => Self::Wake { object: number },
        }
    }
}

impl Arbitrary for Refusal {
    fn arbitrary(g: &mut Gen) -> Self {
        let (code, number) = (u32::arbitrary(g) % 18 + 1, u64::arbitrary(g));
        // Those that have fewer numbers refuse the others.
        let tries = [
            [number, number / 2, number / 3],
            [number, 0, 0],
            [7, 0, 0],
            [0; 3],
        ];
        let refusal = tries
            .into_iter()
            .find_map(|numbers| Self::of(code, numbers).ok());
        refusal.unwrap()
    }
}

impl Arbitrary for Reply {
    fn arbitrary(g: &mut Gen) -> Self {
        let number = u64::arbitrary(g);
        let states = [
            ObjectState::Filling,
            ObjectState::Awake,
            ObjectState::Asleep,
            ObjectState::Discarded,
        ];
        match u8::arbitrary(g) % 8 {
            0 => Self::Greeting,
            1 => Self::Welcome,
            2 => Self::Done,
            3 => Self::Memory {
                object: number,
                bytes: u64::arbitrary(g),
                rights: rights(g),
                pieces: u32::arbitrary(g),
                description: description(g),
            },
            4 => Self::Piece { bytes: number },
            5 => Self::Entry {
                bytes: number,
                guests: u32::arbitrary(g),
                rights: rights(g),
                state: *g.choose(&states).unwrap(),
                description: description(g),
                name: name(g),
            },
            6 => Self::Refused(Refusal::arbitrary(g)),
            _ => Self::Sleep { object: number },
        }
    }
}

/// The kind and the body of a frame.
fn split(frame: &[u8]) -> (u16, &[u8]) {
    let (header, body) = frame.split_first_chunk().unwrap();
    let header = Header::decode(header).unwrap();
    assert_eq!(header.body, body.len());
    (header.kind, body)
}

quickcheck! {
    /// Without it a guest could ask for another object, or a right, than it means.
    fn a_request_comes_out_as_it_went_in(request: Request) -> bool {
        let frame = request.encode();
        let (kind, body) = split(&frame);
        Request::decode(kind, body) == Ok(request) && Reply::decode(kind, body).is_err()
    }

    /// Without it a guest could map memory as larger than it is, or take a refusal for another.
    fn a_reply_comes_out_as_it_went_in(reply: Reply) -> bool {
        let frame = reply.encode();
        let (kind, body) = split(&frame);
        Reply::decode(kind, body) == Ok(reply) && Request::decode(kind, body).is_err()
    }

    /// Without it bytes of a stranger could be taken for a frame that no side writes.
    fn each_value_has_one_encoding(request: Request, at: usize, byte: u8) -> bool {
        let mut frame = request.encode();
        let at = at % frame.len();
        frame[at] = byte;
        let (header, body) = frame.split_first_chunk().unwrap();
        let Ok(Header { kind, body: length }) = Header::decode(header) else {
            return true;
        };
        length != body.len()
            || Request::decode(kind, body).map_or(true, |request| request.encode() == frame)
    }
}

// Without it a stranger could have a keeper make room for any number of bytes, or a refusal name the wrong reason.
#[test]
fn refusals_name_their_reason() {
    let good = Request::List.encode();
    let with = |at: usize, byte: u8| {
        let mut raw = *good.first_chunk::<HEADER>().unwrap();
        raw[at] = byte;
        Header::decode(&raw).unwrap_err()
    };
    assert_eq!(with(0, b'C'), ProtocolError::NotAFrame);
    let (theirs, ours) = (2, 1);
    assert_eq!(with(4, 2), ProtocolError::Version { theirs, ours });
    assert!(matches!(with(11, 1), ProtocolError::Malformed(_)));
    assert!(matches!(with(12, 1), ProtocolError::Malformed(_)));
    let kind = 99;
    assert_eq!(
        Request::decode(kind, &[]),
        Err(ProtocolError::Kind { kind })
    );
    let malformed = |kind, body: &[u8]| {
        matches!(
            Request::decode(kind, body),
            Err(ProtocolError::Malformed(_))
        )
    };
    assert!(malformed(7, &[0]) && malformed(6, &[]) && malformed(6, &[0xff]));
    assert!(malformed(6, &[b'x'; MAX_NAME + 1]) && malformed(5, &[2, b'x']));
    assert!(malformed(4, &[0; 9 + MAX_DESCRIPTION]));
}
