//! What every reader of traces promises.

use cupola_cli::trace::{Operation, ReadOptions, Trace, TraceError};

/// Little memory, so that taking too much is found.
pub fn options() -> ReadOptions {
    ReadOptions {
        memory: 64 << 20,
        ..ReadOptions::default()
    }
}

/// Every block is allocated once, in order, and freed at most once after that; the peak and
/// the number of streams are those of the operations; an error says something.
pub fn sound(read: Result<Trace, TraceError>) {
    let trace = match read {
        Ok(trace) => trace,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let mut blocks = Vec::new();
    let (mut live, mut peak, mut time) = (0_u64, 0, 0);
    for (index, operation) in trace.operations().iter().enumerate() {
        let stream = match *operation {
            Operation::Allocate {
                block,
                bytes,
                stream,
            } => {
                assert_eq!(block, blocks.len());
                blocks.push(Some(bytes));
                live += bytes;
                peak = peak.max(live);
                stream
            }
            Operation::Free { block, stream } => {
                live -= blocks[block].take().expect("a live block");
                stream
            }
        };
        assert!(stream < trace.streams());
        let now = trace.time(index).unwrap_or(time);
        assert!(now >= time);
        time = now;
    }
    assert_eq!((blocks.len(), peak), (trace.blocks(), trace.peak_bytes()));
}
