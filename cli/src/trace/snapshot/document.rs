//! A tree of values as pickles and JSON hold them, in two flat stores: a value that is
//! referred to many times is there once, nesting takes no stack, and memory is in proportion
//! to what was read.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::TraceError;
use super::super::build::Memory;

/// A value; the larger ones are an index into the document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    None,
    Bool(bool),
    Integer(i64),
    /// From 2^63 on.
    Unsigned(u64),
    Float(f64),
    Text(u32),
    List(u32),
    /// A list of keys and values in turn.
    Dict(u32),
}

/// What one value takes in a list that grows by doubling. What it is copied from is counted
/// while it grows.
const VALUE: usize = 2 * size_of::<Value>();

/// What a list or a text takes besides its content.
const ENTRY: usize = 96;

/// Values that a document may have fields for, in one place; more is not a snapshot.
const FIELDS: usize = 64;

#[derive(Debug)]
pub(super) struct Document {
    texts: Vec<Rc<str>>,
    known: HashMap<Rc<str>, u32>,
    lists: Vec<Vec<Value>>,
    pub(super) memory: Memory,
}

impl Document {
    pub(super) fn new(memory: Memory) -> Self {
        Self {
            texts: Vec::new(),
            known: HashMap::new(),
            lists: Vec::new(),
            memory,
        }
    }

    /// A text; equal ones are kept once.
    pub(super) fn text(&mut self, text: &str) -> Result<Value, TraceError> {
        if let Some(&known) = self.known.get(text) {
            return Ok(Value::Text(known));
        }
        self.memory.take(text.len() + 2 * ENTRY)?;
        let text: Rc<str> = text.into();
        let index = self.texts.len() as u32;
        self.texts.push(Rc::clone(&text));
        self.known.insert(text, index);
        Ok(Value::Text(index))
    }

    /// A new list of `values`. An index fits 32 bits: 2^32 lists take more than any limit.
    pub(super) fn list(&mut self, values: Vec<Value>) -> Result<u32, TraceError> {
        self.memory.take(ENTRY + VALUE * values.len())?;
        let index = u32::try_from(self.lists.len());
        self.lists.push(values);
        index.or_else(|_| self.memory.take(usize::MAX).map(|()| u32::MAX))
    }

    /// Appends to a list.
    pub(super) fn extend(
        &mut self,
        list: u32,
        values: impl ExactSizeIterator<Item = Value>,
    ) -> Result<(), TraceError> {
        self.memory.take(VALUE * values.len())?;
        if let Some(list) = self.lists.get(list as usize)
            && list.capacity() - list.len() < values.len()
        {
            self.memory.room(size_of::<Value>() * list.len())?;
        }
        if let Some(list) = self.lists.get_mut(list as usize) {
            list.extend(values);
        }
        Ok(())
    }

    /// The values of a list or a tuple.
    pub(super) fn items(&self, value: Value) -> Option<&[Value]> {
        match value {
            Value::List(index) => self.lists.get(index as usize).map(Vec::as_slice),
            _ => None,
        }
    }

    /// What a dictionary has for `key`.
    pub(super) fn field(&self, value: Value, key: &str) -> Option<Value> {
        let Value::Dict(index) = value else {
            return None;
        };
        let pairs = self.lists.get(index as usize)?.chunks_exact(2);
        // The bound keeps many references to one large dictionary from taking for ever.
        let mut pairs = pairs.take(FIELDS);
        pairs.find_map(|pair| (self.str(pair[0]) == Some(key)).then_some(pair[1]))
    }

    pub(super) fn str(&self, value: Value) -> Option<&str> {
        match value {
            Value::Text(index) => self.texts.get(index as usize).map(|text| &**text),
            _ => None,
        }
    }

    /// An integer that is not negative.
    pub(super) fn unsigned(value: Value) -> Option<u64> {
        match value {
            Value::Integer(integer) => u64::try_from(integer).ok(),
            Value::Unsigned(integer) => Some(integer),
            _ => None,
        }
    }

    /// How many values there are in lists and dictionaries.
    pub(super) fn len(&self) -> usize {
        self.lists.iter().map(Vec::len).sum()
    }
}
