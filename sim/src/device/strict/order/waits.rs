//! What the program waits for, and what it destroys before that.

use crate::device::streams::event::Event;
use crate::device::streams::stream::Stream;
use crate::device::strict::Monitor;
use crate::device::strict::finding::{Finding, FindingKind};
use crate::device::strict::options::Strict;
use crate::device::strict::order::clock::{Clock, Stamp};
use crate::device::strict::order::{CLOSED, Line};
use crate::device::strict::site::Here;
use crate::device::sync::lock;

impl Monitor {
    /// What the program knows once it has waited for the stream.
    pub(in crate::device) fn seen(&self, context: u64, stream: &Stream) -> Option<Clock> {
        let order = || lock(&self.order).seen(stream, context);
        self.orders().then(order)
    }

    /// What the program knows once it has waited for the context, or for one group of its
    /// streams.
    pub(in crate::device) fn seen_all(&self, context: u64, group: Option<u64>) -> Option<Clock> {
        self.orders().then(|| {
            let mut clock = Clock::default();
            let order = lock(&self.order);
            let here = |line: &&Line| {
                line.context == context && group.is_none_or(|group| line.group == group)
            };
            let here = order.lines.values().filter(here);
            here.for_each(|line| clock.join(&line.clock));
            clock
        })
    }

    /// The program has waited for something.
    pub(in crate::device) fn learn(&self, clock: Option<&Clock>) {
        if let Some(clock) = clock {
            lock(&self.order).learn(clock);
        }
    }

    /// A call destroys a stream.
    pub(in crate::device) fn destroys_stream(&self, stream: &Stream) {
        if self.wants(Strict::PENDING_DESTROY) {
            let order = lock(&self.order);
            let line = order.lines.get(&stream.id);
            let pending = line.is_some_and(|line| {
                let (stream, number) = (stream.id, line.number);
                !order.is_over(Stamp { stream, number })
            });
            drop(order);
            self.destroys(pending, "the stream");
        }
    }

    /// A call destroys an event.
    pub(in crate::device) fn destroys_event(&self, event: &Event) {
        if self.wants(Strict::PENDING_DESTROY) {
            let record = event.latest();
            let clock = record.as_ref().and_then(|record| record.clock());
            let pending = clock.is_some_and(|clock| !lock(&self.order).knows(clock));
            self.destroys(pending, "the event");
        }
    }

    fn destroys(&self, pending: bool, what: &str) {
        if pending {
            let what = format!("the program has not waited for {what}");
            self.report(Finding {
                call: Some(Here::now().site()),
                ..Finding::new(FindingKind::DestroyInUse, what)
            });
        }
    }

    /// A stream's handle is gone; its work may go on.
    pub(in crate::device) fn stream_closed(&self, stream: u64) {
        if !self.orders() {
            return;
        }
        let mut order = lock(&self.order);
        if !order.lines.contains_key(&stream) {
            return;
        }
        order.closed.push_back(stream);
        if order.is_spent(stream) {
            order.drop_lines(|other| other == stream);
        } else if order.closed.len() > CLOSED {
            let oldest = order.closed.front().copied();
            order.drop_lines(|other| Some(other) == oldest);
        }
    }

    /// A context and all its streams are gone.
    pub(in crate::device) fn context_closed(&self, context: u64) {
        if self.orders() {
            let mut order = lock(&self.order);
            let here = order.lines.iter();
            let here = here.filter(|(_, line)| line.context == context);
            let gone: Vec<_> = here.map(|(stream, _)| *stream).collect();
            order.drop_lines(|stream| gone.contains(&stream));
        }
    }
}
