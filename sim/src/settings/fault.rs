//! Faults as settings: which call of which function fails, waits, or both.

use cupola_sys::SymbolId;
use cupola_sys::driver::CUresult;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::text::{self, Time};
use crate::fault::FaultTable;

/// What happens to some calls of a function.
#[derive(Clone, Debug)]
pub struct FaultSetting {
    call: SymbolId,
    /// Counted from 1.
    at: u64,
    effect: Effect,
}

#[derive(Clone, Copy, Debug)]
enum Effect {
    /// This call does not run and returns the code.
    Fail(CUresult),
    /// This call and all later ones.
    FailFrom(CUresult),
    /// It runs, and returns the code.
    FailAfter(CUresult),
    Delay(std::time::Duration),
}

impl FaultSetting {
    /// `cuMemAlloc_v2:3=CUDA_ERROR_OUT_OF_MEMORY` fails the third call, `3+` the third and
    /// every later one.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let form = || format!("{text:?} is not of the form FUNCTION:CALL=CODE");
        let (call, code) = text.split_once('=').ok_or_else(form)?;
        let (name, at) = call.split_once(':').ok_or_else(form)?;
        let (at, every) = match at.trim().strip_suffix('+') {
            Some(at) => (at, true),
            None => (at.trim(), false),
        };
        let at = at.parse().ok().filter(|at| *at > 0).ok_or_else(form)?;
        let code = text::code(code)?;
        Ok(Self {
            call: text::function(name.trim())?,
            at,
            effect: if every {
                Effect::FailFrom(code)
            } else {
                Effect::Fail(code)
            },
        })
    }

    pub(super) fn arm(&self, table: &FaultTable) {
        match self.effect {
            Effect::Fail(code) => table.fail(self.call, self.at, code),
            Effect::FailFrom(code) => table.fail_from(self.call, self.at, code),
            Effect::FailAfter(code) => table.fail_after(self.call, self.at, code),
            Effect::Delay(delay) => table.delay(self.call, self.at, delay),
        }
    }
}

/// The keys of `[[fault]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    call: String,
    #[serde(default)]
    at: Option<u64>,
    #[serde(default)]
    from: Option<u64>,
    #[serde(default)]
    after: Option<u64>,
    #[serde(default)]
    code: Option<Code>,
    #[serde(default)]
    delay: Option<Time>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "an error code by name or number")]
enum Code {
    Number(u32),
    Name(String),
}

impl<'de> Deserialize<'de> for FaultSetting {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let keys = Keys::deserialize(from)?;
        let call = text::function(&keys.call).map_err(D::Error::custom)?;
        let code = match keys.code {
            None => None,
            Some(Code::Number(code)) => Some(CUresult(code)),
            Some(Code::Name(name)) => Some(text::code(&name).map_err(D::Error::custom)?),
        };
        let (at, effect) = match (keys.at, keys.from, keys.after, code, keys.delay) {
            (Some(at), None, None, Some(code), None) => (at, Effect::Fail(code)),
            (None, Some(at), None, Some(code), None) => (at, Effect::FailFrom(code)),
            (None, None, Some(at), Some(code), None) => (at, Effect::FailAfter(code)),
            (Some(at), None, None, None, Some(delay)) => (at, Effect::Delay(delay.0)),
            _ => {
                return Err(D::Error::custom(
                    "a fault has a `call` and either `at`, `from` or `after` with a `code`, \
                     or `at` with a `delay`",
                ));
            }
        };
        if at == 0 {
            return Err(D::Error::custom("calls are counted from 1"));
        }
        Ok(Self { call, at, effect })
    }
}
