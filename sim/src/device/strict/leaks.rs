//! What a program has not given back.

use std::sync::atomic::Ordering;

use crate::device::contexts::context::Context;
use crate::device::contexts::green::Green;
use crate::device::machine::Inner;
use crate::device::strict::finding::{CallSite, Finding, FindingKind};
use crate::device::strict::options::Strict;
use crate::device::strict::site::Here;
use crate::device::sync::read;

fn leak(what: &str, allocated: CallSite) -> Finding {
    Finding {
        other: Some(allocated),
        ..Finding::new(FindingKind::Leak, what)
    }
}

/// What belongs to a context that ends, or that the program has not ended: memory,
/// streams, events and modules, in the order they were made.
pub(in crate::device) fn of_context(machine: &Inner, context: &Context) -> Vec<Finding> {
    let handle = context.handle;
    let (mut blocks, mut ranges) = (Vec::new(), Vec::new());
    const FREED: &str = "memory was not freed";
    machine.space.each(
        |block| {
            if block.context == handle && !block.module && !block.is_doomed() {
                let what = match &block.opened {
                    Some(_) => "memory of another process was not closed",
                    None => FREED,
                };
                blocks.push((what, block.allocation()));
            }
        },
        |range| {
            if range.context == handle {
                ranges.push((FREED, range.allocation()));
            }
        },
    );
    let mut leaks: Vec<_> = blocks
        .into_iter()
        .chain(ranges)
        .map(|(what, memory)| Finding {
            address: Some(memory.base),
            bytes: Some(memory.size),
            other: Some(memory.allocated.clone()),
            allocation: Some(memory),
            ..Finding::new(FindingKind::Leak, what)
        })
        .collect();
    for (owner, stream) in read(&machine.streams).values() {
        // Those of a destroyed green context were told at its end.
        let told = stream.part.as_ref().is_some_and(|part| part.is_closed());
        if owner.handle == handle && !told {
            leaks.push(leak("a stream was not destroyed", stream.made.site()));
        }
    }
    for event in read(&machine.events).values() {
        if event.context == handle {
            leaks.push(leak("an event was not destroyed", event.made.site()));
        }
    }
    machine.modules.each(|module| {
        if module.context == handle && !module.is_of_library() {
            leaks.push(leak("a module was not unloaded", module.made.site()));
        }
    });
    leaks.sort_by_key(|leak| leak.other.as_ref().map(|call| call.number));
    for leak in &mut leaks {
        let made = leak.other.as_ref();
        if let Some(made) = made.filter(|_| leak.allocation.is_none()) {
            leak.what = format!("{}, made by {made}", leak.what);
        }
        leak.call = Some(Here::now().site());
    }
    leaks
}

/// A context ends, and takes with it what the program has not given back. After a fault a
/// program cannot give anything back: that is no leak.
pub(in crate::device) fn context_ends(machine: &Inner, context: &Context) {
    if machine.strict.wants(Strict::LEAKS) && context.health.check().is_ok() {
        let leaks = of_context(machine, context).into_iter();
        leaks.for_each(|leak| machine.strict.report(leak));
    }
}

/// A green context ends: its streams can do nothing more, and the program was to destroy them
/// first.
pub(in crate::device) fn green_ends(machine: &Inner, green: &Green) {
    if !machine.strict.wants(Strict::LEAKS) || green.primary.health.check().is_err() {
        return;
    }
    let mut left: Vec<_> = read(&machine.streams)
        .values()
        .filter(|(_, stream)| stream.group() == green.part.handle)
        .map(|(_, stream)| stream.made.site())
        .collect();
    left.sort_by_key(|made| made.number);
    for made in left {
        let what = format!("a stream was not destroyed before its green context, made by {made}");
        let mut found = leak(&what, made);
        found.call = Some(Here::now().site());
        machine.strict.report(found);
    }
}

/// The machine ends, or a process without ending it.
pub(in crate::device) fn report_leaks(machine: &Inner) {
    if machine.strict.wants(Strict::LEAKS) {
        let leaks = of_machine(machine).into_iter();
        leaks.for_each(|leak| machine.strict.report(leak));
    }
}

/// What a program holds of a machine: all of its contexts, and what is theirs.
pub(in crate::device) fn of_machine(machine: &Inner) -> Vec<Finding> {
    let mut contexts: Vec<_> = read(&machine.contexts).values().cloned().collect();
    contexts.sort_by_key(|context| context.id);
    let mut leaks = Vec::new();
    let mut faulted = false;
    for context in contexts {
        if context.health.check().is_err() {
            faulted = true;
            continue;
        }
        leaks.extend(of_context(machine, &context));
        let device = &context.device;
        let what = match context.primary {
            true if device.retained.load(Ordering::Relaxed) > 0 => "a primary context is retained",
            true => continue,
            false => "a context was not destroyed",
        };
        let made = context.made.site();
        leaks.push(leak(&format!("{what}, made by {made}"), made));
    }
    let greens: Vec<_> = read(&machine.greens).values().flatten().cloned().collect();
    for green in greens {
        if green.primary.health.check().is_ok() {
            let made = green.made.site();
            let what = format!("a green context was not destroyed, made by {made}");
            leaks.push(leak(&what, made));
        }
    }
    if !faulted {
        leaks.extend(of_no_context(machine));
    }
    machine.libraries.each(|library| {
        let made = library.made.site();
        let what = format!("a library was not unloaded, made by {made}");
        leaks.push(leak(&what, made));
    });
    machine.links.each(|link| {
        let made = link.made.site();
        let what = format!("a linker was not destroyed, made by {made}");
        leaks.push(leak(&what, made));
    });
    for (what, made) in machine.graphs.made() {
        let made = made.site();
        let what = format!("{what} was not destroyed, made by {made}");
        leaks.push(leak(&what, made));
    }
    leaks
}

/// Pools, physical memory and reserved addresses, which belong to no context.
fn of_no_context(machine: &Inner) -> Vec<Finding> {
    let mut leaks = Vec::new();
    for made in machine.space.externals().handles() {
        let made = made.site();
        let what = format!("imported memory was not destroyed, made by {made}");
        leaks.push(leak(&what, made));
    }
    for made in machine.space.externals().semaphores() {
        let made = made.site();
        let what = format!("an imported semaphore was not destroyed, made by {made}");
        leaks.push(leak(&what, made));
    }
    for device in &machine.devices {
        for (handle, made) in device.account.pools() {
            if handle != device.default_pool {
                let made = made.site();
                let what = format!("a memory pool was not destroyed, made by {made}");
                leaks.push(leak(&what, made));
            }
        }
    }
    for (len, made) in machine.space.mapped().handles() {
        let made = made.site();
        let what = format!("{len} bytes of physical memory were not released, made by {made}");
        leaks.push(leak(&what, made));
    }
    for (base, len, made) in machine.space.mapped().reservations() {
        let made = made.site();
        let what = format!("{len} bytes of addresses were not freed, reserved by {made}");
        leaks.push(Finding {
            address: Some(base),
            ..leak(&what, made)
        });
    }
    leaks.sort_by_key(|leak| leak.other.as_ref().map(|call| call.number));
    leaks
}
