//! `Reader`: takes parts from bytes, never more than there are.

use super::FormatError;

pub(crate) struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn array<const N: usize>(
        &mut self,
        part: &'static str,
    ) -> Result<&'b [u8; N], FormatError> {
        let (taken, rest) = self
            .rest
            .split_first_chunk()
            .ok_or(FormatError::Part(part))?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn byte(&mut self, part: &'static str) -> Result<u8, FormatError> {
        self.array::<1>(part).map(|&[byte]| byte)
    }

    /// Nought or one: another byte would be a second encoding of the same.
    pub(crate) fn flag(&mut self, part: &'static str) -> Result<bool, FormatError> {
        match self.byte(part)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(FormatError::Part(part)),
        }
    }

    pub(crate) fn number(&mut self, part: &'static str) -> Result<u64, FormatError> {
        self.array(part).map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// How many parts follow, each of `least` bytes or more: no more than there is room for.
    pub(crate) fn count(&mut self, least: usize, part: &'static str) -> Result<u32, FormatError> {
        let count = u32::from_le_bytes(*self.array(part)?);
        match usize::try_from(count) {
            Ok(many) if many <= self.rest.len() / least => Ok(count),
            _ => Err(FormatError::Part(part)),
        }
    }

    pub(crate) fn bytes(&mut self, part: &'static str) -> Result<&'b [u8], FormatError> {
        let length = usize::try_from(self.number(part)?).ok();
        let parts = length.and_then(|length| self.rest.split_at_checked(length));
        let (taken, rest) = parts.ok_or(FormatError::Part(part))?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn text(&mut self, part: &'static str) -> Result<String, FormatError> {
        let bytes = self.bytes(part)?.to_vec();
        String::from_utf8(bytes).map_err(|_| FormatError::Part(part))
    }

    /// Nothing may be left.
    pub(crate) fn end(&self) -> Result<(), FormatError> {
        match self.rest {
            [] => Ok(()),
            _ => Err(FormatError::Part("end")),
        }
    }
}
