//! The numbers by which Python's protocols name streams.

use std::num::NonZeroUsize;
use std::ptr;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::stream::Stream;

/// A stream that another library names by a number: the `stream` argument of `__dlpack__`, or the entry of that name of
/// the CUDA array interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamNumber {
    /// The context's legacy default stream.
    LegacyDefault,
    /// The default stream of the thread that works with the array. The legacy default stream stands for it here: the
    /// driver orders the two, on every thread.
    PerThreadDefault,
    /// The address of a stream.
    Stream(NonZeroUsize),
    /// The other side orders its work itself, or its work is over.
    Unordered,
}

impl StreamNumber {
    /// The `stream` argument of `__dlpack__`: `None` and 1 are the legacy default stream, 2 is that of the thread, -1 asks
    /// for no order, larger ones are addresses.
    ///
    /// # Errors
    /// [`Error::Invalid`] for 0, which the standard disallows because it could be any of three, and for those
    /// below -1.
    pub fn from_dlpack(stream: Option<i128>) -> Result<Self> {
        match stream {
            None => Ok(Self::LegacyDefault),
            Some(-1) => Ok(Self::Unordered),
            Some(number) => Self::named(number),
        }
    }

    /// The entry `stream` of the CUDA array interface, version 3: `None` asks for no order, 1 is the legacy default stream,
    /// 2 that of the thread, larger ones are addresses.
    ///
    /// # Errors
    /// [`Error::Invalid`] for 0, which the interface disallows because it could be `None` or any default stream.
    pub fn from_array_interface(stream: Option<u64>) -> Result<Self> {
        match stream {
            None => Ok(Self::Unordered),
            Some(number) => Self::named(i128::from(number)),
        }
    }

    /// What is the same in both.
    fn named(number: i128) -> Result<Self> {
        match usize::try_from(number).ok().and_then(NonZeroUsize::new) {
            Some(NonZeroUsize::MIN) => Ok(Self::LegacyDefault),
            Some(address) if address.get() == 2 => Ok(Self::PerThreadDefault),
            Some(address) => Ok(Self::Stream(address)),
            None => {
                let problem = format!("{number} names no stream of CUDA");
                Err(Error::invalid("stream", problem))
            }
        }
    }

    /// The stream, leased to order work on it; `None` where no order is asked for.
    ///
    /// # Errors
    /// Those of [`borrow_raw`](crate::stream::StreamManager::borrow_raw) and of
    /// [`legacy_default`](crate::stream::StreamManager::legacy_default).
    ///
    /// # Safety
    /// That of [`borrow_raw`](crate::stream::StreamManager::borrow_raw), of a stream that is named by its address: it is of
    /// this context, and lives as long as the lease and all that was given it.
    #[track_caller]
    pub unsafe fn lease(self, context: &Context) -> Result<Option<Stream>> {
        match self {
            Self::Unordered => Ok(None),
            Self::LegacyDefault | Self::PerThreadDefault => {
                context.streams().legacy_default().map(Some)
            }
            Self::Stream(address) => {
                let raw = ptr::with_exposed_provenance_mut(address.get());
                // SAFETY: `borrow_raw` needs a stream of this context that lives long enough, and no default stream of a
                // green one: the first two by this function's condition, and a default stream is another variant.
                unsafe { context.streams().borrow_raw(raw) }.map(Some)
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it work could be ordered with another stream than the other library named, or with none.
    #[test]
    fn numbers_are_what_the_protocols_say() {
        let address = |number| StreamNumber::Stream(NonZeroUsize::new(number).unwrap());
        let dlpack = StreamNumber::from_dlpack;
        assert_eq!(dlpack(None), Ok(StreamNumber::LegacyDefault));
        assert_eq!(dlpack(Some(1)), Ok(StreamNumber::LegacyDefault));
        assert_eq!(dlpack(Some(2)), Ok(StreamNumber::PerThreadDefault));
        assert_eq!(dlpack(Some(-1)), Ok(StreamNumber::Unordered));
        assert_eq!(dlpack(Some(0x7f00)), Ok(address(0x7f00)));
        let array = StreamNumber::from_array_interface;
        assert_eq!(array(None), Ok(StreamNumber::Unordered));
        assert_eq!(array(Some(1)), Ok(StreamNumber::LegacyDefault));
        assert_eq!(array(Some(2)), Ok(StreamNumber::PerThreadDefault));
        assert_eq!(array(Some(0x7f00)), Ok(address(0x7f00)));
        for refused in [
            dlpack(Some(0)),
            dlpack(Some(-2)),
            dlpack(Some(i128::MAX)),
            array(Some(0)),
        ] {
            assert!(matches!(
                refused,
                Err(Error::Invalid {
                    field: "stream",
                    ..
                })
            ));
        }
    }
}
