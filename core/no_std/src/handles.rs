//! Handles and their tags.

use core::hash::{Hash, Hasher};

use cupola_core::{Handle, Tag, tag};

use crate::length;

struct Mine;

impl Tag for Mine {
    const NAME: &'static str = "Mine";
}

/// Adds up what it is given.
struct Sum(u64);

impl Hasher for Sum {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.wrapping_add(u64::from(byte));
        }
    }
}

fn look<G: Tag>(a: u64, b: u64) -> Option<u64> {
    let (a, b) = (Handle::<G>::from_bits(a)?, Handle::<G>::from_bits(b)?);
    let mut sum = Sum(a.to_bits());
    a.max(b).hash(&mut sum);
    let text = length(format_args!("{a:?}"));
    Some(sum.finish() + a.generation() + (b.index() + text) as u64 + u64::from(a == b))
}

/// Uses handles of every tag, and of one from outside.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_handles(a: u64, b: u64) -> u64 {
    [
        look::<Mine>,
        look::<tag::Device>,
        look::<tag::Context>,
        look::<tag::Stream>,
        look::<tag::Event>,
        look::<tag::Buffer>,
        look::<tag::Module>,
        look::<tag::Function>,
        look::<tag::Graph>,
        look::<tag::Slot>,
    ]
    .iter()
    .filter_map(|look| look(a, b))
    .sum()
}
