//! A subscriber of `tracing` that keeps what it is told, as text.

use std::fmt::{Debug, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once};
use std::thread::{self, ThreadId};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

static TOLD: Mutex<Vec<(ThreadId, String)>> = Mutex::new(Vec::new());

/// Makes the process tell this subscriber.
pub(crate) fn subscribe() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Keeper(AtomicU64::new(1))).unwrap());
}

/// What this thread has told since it asked last.
pub(crate) fn told() -> Vec<String> {
    let this = thread::current().id();
    let mut all = TOLD.lock().unwrap();
    let (mine, others) = all.drain(..).partition(|(thread, _)| *thread == this);
    *all = others;
    let mine: Vec<(ThreadId, String)> = mine;
    mine.into_iter().map(|(_, text)| text).collect()
}

struct Keeper(AtomicU64);

fn keep(text: String) {
    TOLD.lock().unwrap().push((thread::current().id(), text));
}

/// The fields, as `name=value`, and the message as it is.
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

impl Subscriber for Keeper {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("cupola_managers::pipeline")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(format!("begin {}", span.metadata().name()));
        span.record(&mut fields);
        keep(fields.0);
        Id::from_u64(self.0.fetch_add(1, Ordering::Relaxed))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(event.metadata().level().to_string());
        event.record(&mut fields);
        keep(fields.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {
        keep("end".into());
    }
}
