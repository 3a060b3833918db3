//! Loads, launches and compares. A failure is a row of a table; the rest goes on.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fmt::Write;

use cupola_sys::driver::{CUdevice_attribute, CUfunction, CUjit_option, CUmodule, DriverError};

use crate::form::{Expect, Form, Needs, Ty};
use crate::module::{self, BLOCK};
use crate::oracle::float::{self, Format};
use crate::raw::{Raw, Where, target};

/// Kernels in a module. More would save time, and make a bad one cost more to find.
const BATCH: usize = 48;

/// Rows shown for one form.
const ROWS: usize = 20;

/// Runs every form that the device is new enough for, prints what was tried, and panics
/// with a table of what was wrong.
pub(crate) fn check(what: &str, forms: &[Form]) {
    let bench = bench();
    let attribute = |a| u32::try_from(bench.attribute(a)).expect("a number");
    let capability = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        * 10
        + attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    let mut groups: BTreeMap<Needs, Vec<&Form>> = BTreeMap::new();
    let mut skipped = 0;
    for form in forms {
        if form.needs.1 <= capability {
            groups.entry(form.needs).or_default().push(form);
        } else {
            skipped += 1;
        }
    }
    let mut report = Report::default();
    for group in groups.values() {
        for (number, batch) in group.chunks(BATCH).enumerate() {
            dump(what, number, batch);
            run_batch(&bench, batch, &mut report);
        }
    }
    if skipped > 0 {
        println!("{what}: {skipped} forms need a newer device than sm_{capability}");
    }
    if !report.open.is_empty() {
        println!("{what}: left open by PTX, seen here:\n{}", report.open);
    }
    println!("{what}: {} forms, {} cases", report.forms, report.cases);
    assert!(
        report.bad == 0,
        "{what}: {} of {} forms are wrong\n{}",
        report.bad,
        report.forms,
        report.rows
    );
}

#[derive(Default)]
struct Report {
    forms: usize,
    cases: usize,
    bad: usize,
    rows: String,
    open: String,
}

impl Report {
    fn refused(&mut self, form: &Form, why: &str) {
        self.forms += 1;
        self.bad += 1;
        let (ptx, sm) = form.needs;
        let _ = writeln!(
            self.rows,
            "{} (PTX {ptx}, sm_{sm}): refused: {why}",
            form.name
        );
    }
}

/// The software device plays an H200 here, because many forms need `sm_90`.
#[cfg(feature = "sim")]
fn bench() -> Raw {
    if target() != Where::Sim {
        return Raw::open();
    }
    let device = cupola_sim::DeviceConfig::new().compute_capability(9, 0);
    let machine = cupola_sim::Machine::builder().device(device).build();
    Raw::on(machine.driver(), 1).expect("a device")
}

#[cfg(not(feature = "sim"))]
fn bench() -> Raw {
    Raw::open()
}

/// Leaves the module's text where `CUPOLA_TEST_PTX_DIR` says.
fn dump(what: &str, number: usize, batch: &[&Form]) {
    if let Some(directory) = std::env::var_os("CUPOLA_TEST_PTX_DIR") {
        let needs = batch.first().map_or((0, 0), |form| form.needs);
        let name = format!("{what}-ptx{}-sm{}-{number}.ptx", needs.0, needs.1);
        let path = std::path::Path::new(&directory).join(name);
        std::fs::write(path, module::text(batch)).expect("the module is written");
    }
}

/// A form that does not load takes its module with it: then each is loaded by itself.
fn run_batch(bench: &Raw, batch: &[&Form], report: &mut Report) {
    match load(bench, &module::text(batch)) {
        Ok(module) => {
            for (i, form) in batch.iter().enumerate() {
                run_form(bench, module, i, form, report);
            }
            // SAFETY: loaded above, and nothing runs.
            unsafe { bench.driver.cuModuleUnload(module) }.expect("unload");
        }
        Err(why) if batch.len() == 1 => report.refused(batch[0], &why),
        Err(_) => {
            for form in batch {
                run_batch(bench, &[form], report);
            }
        }
    }
}

fn load(bench: &Raw, text: &str) -> Result<CUmodule, String> {
    let image = CString::new(text).expect("no zero byte");
    let mut log = vec![0u8; 4096];
    let mut options = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values = [
        log.as_mut_ptr().cast(),
        std::ptr::without_provenance_mut(log.len()),
    ];
    let mut module = std::ptr::null_mut();
    // SAFETY: the image ends with a zero, the options have their values, and all of it and
    // the log outlive the call.
    let loaded = unsafe {
        bench.driver.cuModuleLoadDataEx(
            &raw mut module,
            image.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    loaded.map(|()| module).map_err(|error| {
        let log = log.split(|byte| *byte == 0).next().unwrap_or_default();
        format!("{error}: {}", String::from_utf8_lossy(log).trim())
    })
}

fn run_form(bench: &Raw, module: CUmodule, index: usize, form: &Form, report: &mut Report) {
    let name = CString::new(format!("k{index}")).expect("no zero byte");
    let mut function: CUfunction = std::ptr::null_mut();
    // SAFETY: the name and the place outlive the call.
    let found = unsafe {
        bench
            .driver
            .cuModuleGetFunction(&raw mut function, module, name.as_ptr())
    };
    if let Err(error) = found {
        return report.refused(form, &error.to_string());
    }
    match launch(bench, function, form) {
        Ok(results) => compare(form, &results, report),
        Err(error) => report.refused(form, &error.to_string()),
    }
}

/// The outputs of every thread.
fn launch(bench: &Raw, function: CUfunction, form: &Form) -> Result<Vec<Vec<u64>>, DriverError> {
    let words: Vec<u8> = form
        .operands
        .iter()
        .inspect(|list| assert_eq!(list.len(), form.inputs.len(), "{}", form.name))
        .flatten()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let threads = form.operands.len();
    let stride = 8 * form.outputs.len();
    let (mut input, mut output) = (
        bench.upload(&words),
        bench.upload(&vec![0xa5; threads * stride]),
    );
    let mut count = u32::try_from(threads).expect("a grid");
    let mut arguments = [
        (&raw mut input).cast(),
        (&raw mut output).cast(),
        (&raw mut count).cast(),
    ];
    let blocks = count.div_ceil(BLOCK as u32);
    // SAFETY: the arguments are those of the kernel, and the memory lives until it has ended.
    let ran = unsafe {
        bench
            .driver
            .cuLaunchKernel(
                function,
                blocks,
                1,
                1,
                BLOCK as u32,
                1,
                1,
                0,
                std::ptr::null_mut(),
                arguments.as_mut_ptr(),
                std::ptr::null_mut(),
            )
            .and_then(|()| bench.driver.cuCtxSynchronize())
    };
    ran?;
    let bytes = bench.download(output, threads * stride);
    bench.free(input);
    bench.free(output);
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
    Ok(bytes
        .chunks(stride)
        .map(|thread| {
            let outputs = thread.chunks(8).zip(&form.outputs);
            outputs.map(|(w, ty)| word(w) & stored(*ty)).collect()
        })
        .collect())
}

/// The bits that a kernel stores of an output.
fn stored(ty: Ty) -> u64 {
    match ty {
        Ty::Pred => 0xffff_ffff,
        _ => ty.mask(),
    }
}

fn compare(form: &Form, results: &[Vec<u64>], report: &mut Report) {
    report.forms += 1;
    let (mut wrong, mut open) = (0, 0);
    for (thread, (expected, got)) in form.expected().iter().zip(results).enumerate() {
        assert_eq!(expected.len(), got.len(), "{}", form.name);
        let operands = || hex(&form.operands[thread], &form.inputs);
        if expected.iter().all(|e| *e == Expect::Open) {
            open += 1;
            if open <= 3 {
                let _ = writeln!(
                    report.open,
                    "  {:<24} {} -> {}",
                    form.name,
                    operands(),
                    hex(got, &form.outputs)
                );
            }
            continue;
        }
        report.cases += 1;
        let right = expected
            .iter()
            .zip(got)
            .zip(&form.outputs)
            .all(|((expected, got), ty)| holds(expected, *got, *ty));
        if right {
            continue;
        }
        wrong += 1;
        if wrong <= ROWS {
            let shown: Vec<String> = expected
                .iter()
                .zip(&form.outputs)
                .map(|(e, ty)| show(e, *ty))
                .collect();
            let _ = writeln!(
                report.rows,
                "{:<28} {} -> {}, not {}",
                form.name,
                operands(),
                hex(got, &form.outputs),
                shown.join(" ")
            );
        }
    }
    if wrong > 0 {
        report.bad += 1;
        let _ = writeln!(
            report.rows,
            "{}: {wrong} of {} wrong",
            form.name,
            results.len()
        );
    }
}

fn holds(expected: &Expect, got: u64, ty: Ty) -> bool {
    match expected {
        Expect::Is(bits) => got == *bits,
        Expect::OneOf(all) => all.contains(&got),
        Expect::Nan => float::is_nan(got, Format::of(ty)),
        Expect::Between(low, high) => {
            let value = float::value(got, Format::of(ty));
            *low <= value && value <= *high
        }
        Expect::Halves(low, high) => {
            let half = half(ty);
            holds(low, got & 0xffff, half) && holds(high, got >> 16, half)
        }
        Expect::Open => true,
    }
}

fn show(expected: &Expect, ty: Ty) -> String {
    match expected {
        Expect::Is(bits) => hex(&[*bits], &[ty]),
        Expect::OneOf(all) => all
            .iter()
            .map(|bits| hex(&[*bits], &[ty]))
            .collect::<Vec<_>>()
            .join("|"),
        Expect::Nan => "NaN".into(),
        Expect::Between(low, high) => format!("{low:e}..={high:e}"),
        Expect::Halves(low, high) => {
            let half = half(ty);
            format!("{}:{}", show(high, half), show(low, half))
        }
        Expect::Open => "anything".into(),
    }
}

/// The type of each half of a word.
fn half(ty: Ty) -> Ty {
    match ty {
        Ty::BF16x2 => Ty::BF16,
        _ => Ty::F16,
    }
}

fn hex(words: &[u64], types: &[Ty]) -> String {
    let digits = |ty: &Ty| ty.register().trim_start_matches('b').parse().unwrap_or(4) / 4;
    words
        .iter()
        .zip(types)
        .map(|(word, ty)| format!("{:0width$x}", word & stored(*ty), width = digits(ty)))
        .collect::<Vec<_>>()
        .join(" ")
}
