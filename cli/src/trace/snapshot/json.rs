//! Reads JSON into a [`Document`].

use std::fmt;
use std::io::{self, BufRead, Read};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::super::TraceError;
use super::super::build::Memory;
use super::document::{Document, Value};

/// Reads one value to the end of the source.
pub(super) fn read(
    source: impl BufRead,
    memory: Memory,
    limit: u64,
) -> Result<(Document, Value), TraceError> {
    let mut document = Document::new(memory);
    // A text is whole in memory before it can be counted, so the source is counted too.
    let mut source = Limited {
        source,
        left: limit,
    };
    let mut full = None;
    let seed = Seed {
        document: &mut document,
        full: &mut full,
    };
    let mut reader = serde_json::Deserializer::from_reader(io::BufReader::new(&mut source));
    let read = seed
        .deserialize(&mut reader)
        .and_then(|root| reader.end().map(|()| root));
    let error = match read {
        Ok(root) => return Ok((document, root)),
        Err(error) => error,
    };
    drop(reader);
    Err(match full {
        Some(full) => full,
        None if source.left == 0 => TraceError::TooLarge { limit },
        // A file that cannot be read is not one that is written wrong.
        None if error.is_io() => TraceError::Read(error.into()),
        None => TraceError::Json(error),
    })
}

/// A source that ends after so many bytes.
struct Limited<R> {
    source: R,
    left: u64,
}

impl<R: BufRead> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = (&mut self.source).take(self.left).read(buffer)?;
        self.left -= read as u64;
        Ok(read)
    }
}

/// Puts the next value into the document. `full` says what serde's errors cannot.
struct Seed<'d> {
    document: &'d mut Document,
    full: &'d mut Option<TraceError>,
}

impl Seed<'_> {
    fn again(&mut self) -> Seed<'_> {
        Seed {
            document: self.document,
            full: self.full,
        }
    }

    fn kept<T, E: serde::de::Error>(&mut self, kept: Result<T, TraceError>) -> Result<T, E> {
        kept.map_err(|error| {
            let message = E::custom(&error);
            *self.full = Some(error);
            message
        })
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::None)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or(Value::Unsigned(value), Value::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E: serde::de::Error>(mut self, value: &str) -> Result<Value, E> {
        let text = self.document.text(value);
        self.kept(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        let list = self.document.list(Vec::new());
        let list = self.kept(list)?;
        while let Some(value) = items.next_element_seed(self.again())? {
            let done = self.document.extend(list, [value].into_iter());
            self.kept(done)?;
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        let dict = self.document.list(Vec::new());
        let dict = self.kept(dict)?;
        while let Some(key) = items.next_key_seed(self.again())? {
            let value = items.next_value_seed(self.again())?;
            let done = self.document.extend(dict, [key, value].into_iter());
            self.kept(done)?;
        }
        Ok(Value::Dict(dict))
    }
}
