//! Numbers, names and descriptions in a body.

use super::{
    HEADER, MAGIC, MAX_DESCRIPTION, MAX_NAME, ObjectState, Opening, ProtocolError, Rights, VERSION,
};

pub(super) fn code(rights: Rights) -> u8 {
    u8::from(rights == Rights::ReadWrite)
}

/// A frame that is written.
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn new(kind: u16) -> Self {
        let mut raw = Vec::with_capacity(64);
        raw.extend_from_slice(&MAGIC);
        raw.extend_from_slice(&VERSION.to_le_bytes());
        raw.extend_from_slice(&kind.to_le_bytes());
        raw.extend_from_slice(&[0; 8]);
        Self(raw)
    }

    pub(super) fn put(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn u8(self, value: u8) -> Self {
        self.put(&[value])
    }

    pub(super) fn u32(self, value: u32) -> Self {
        self.put(&value.to_le_bytes())
    }

    pub(super) fn u64(self, value: u64) -> Self {
        self.put(&value.to_le_bytes())
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        // Names and descriptions are bounded before, so it fits.
        let body = (self.0.len() - HEADER) as u32;
        self.0[8..12].copy_from_slice(&body.to_le_bytes());
        self.0
    }
}

/// What is left of a body.
pub(super) struct Reader<'b>(pub(super) &'b [u8]);

impl Reader<'_> {
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], ProtocolError> {
        let Some((now, later)) = self.0.split_first_chunk() else {
            return Err(ProtocolError::Malformed("a body that is too short"));
        };
        self.0 = later;
        Ok(*now)
    }

    pub(super) fn u8(&mut self) -> Result<u8, ProtocolError> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16, ProtocolError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, ProtocolError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, ProtocolError> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn rights(&mut self) -> Result<Rights, ProtocolError> {
        match self.u8()? {
            0 => Ok(Rights::Read),
            1 => Ok(Rights::ReadWrite),
            _ => Err(ProtocolError::Malformed("unknown rights")),
        }
    }

    pub(super) fn opening(&mut self) -> Result<Opening, ProtocolError> {
        match self.u8()? {
            0 => Ok(Opening::Mapped),
            1 => Ok(Opening::Sleeping),
            _ => Err(ProtocolError::Malformed("an unknown kind of opening")),
        }
    }

    pub(super) fn state(&mut self) -> Result<ObjectState, ProtocolError> {
        match self.u8()? {
            0 => Ok(ObjectState::Filling),
            1 => Ok(ObjectState::Awake),
            2 => Ok(ObjectState::Asleep),
            3 => Ok(ObjectState::Discarded),
            _ => Err(ProtocolError::Malformed("an unknown state")),
        }
    }

    /// The rest of the body.
    pub(super) fn name(&mut self) -> Result<String, ProtocolError> {
        let bytes = std::mem::take(&mut self.0);
        if bytes.is_empty() || bytes.len() > MAX_NAME {
            return Err(ProtocolError::Malformed(
                "a name of no bytes, or of too many",
            ));
        }
        let name = std::str::from_utf8(bytes);
        let name = name.map_err(|_| ProtocolError::Malformed("a name that is not UTF-8"))?;
        Ok(name.to_owned())
    }

    /// The rest of the body.
    pub(super) fn description(&mut self) -> Result<Vec<u8>, ProtocolError> {
        let bytes = std::mem::take(&mut self.0);
        if bytes.len() > MAX_DESCRIPTION {
            return Err(ProtocolError::Malformed("a description of too many bytes"));
        }
        Ok(bytes.to_vec())
    }

    /// With its length before it.
    pub(super) fn counted_description(&mut self) -> Result<Vec<u8>, ProtocolError> {
        let length = self.u32()? as usize;
        let Some((now, later)) = self.0.split_at_checked(length) else {
            return Err(ProtocolError::Malformed("a body that is too short"));
        };
        self.0 = later;
        Reader(now).description()
    }

    pub(super) fn end(&self) -> Result<(), ProtocolError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(ProtocolError::Malformed("bytes behind the end of a body"))
        }
    }
}
