//! What each PTX instruction computes: tables of instruction forms, each applied to edge
//! values and compared with an oracle that shares nothing with the software device (the
//! soft floats of `rustc_apfloat`, 128-bit integers, the host's `libm`).
//! docs/design/sim/ptx.md says which oracle stands for what, and with which bounds.
//! `CUPOLA_TEST_DEVICE` chooses where it runs, as for `tests/surface`. `CUPOLA_TEST_PTX_DIR`
//! names a directory that gets the modules, for reading them or giving them to an assembler.

#[path = "../surface/raw.rs"]
mod raw;

mod edges;
mod form;
mod module;
mod oracle;
mod run;
mod tables;

use form::Form;

/// Makes a test of each table, and the list of all of them.
macro_rules! tables {
    ($($(#[$without:meta])* $name:ident: $($table:ident)::+;)*) => {
        $(
            $(#[$without])*
            #[test]
            fn $name() {
                run::check(stringify!($name), &tables::$($table)::+());
            }
        )*

        fn all() -> Vec<(&'static str, Vec<Form>)> {
            vec![$((stringify!($name), tables::$($table)::+())),*]
        }
    };
}

tables! {
    /// Without it, integer arithmetic could wrap, saturate or extend wrongly.
    integer_arithmetic: integer::arithmetic;
    /// Without it, carries and borrows could be lost between words.
    carry_chains: carry::chains;
    /// Without it, shifts, fields, counts and permutes could go wrong at the width's edges.
    bits_and_shifts: bits::all;
    /// Without it, comparisons could take NaNs, signs or boolean operators wrongly.
    comparisons: compare::all;
    /// Without it, integers could be cut, extended or saturated wrongly.
    integer_conversions: convert::integers;
    /// Without it, a float could become a wrong integer at ties, ends of range and NaN.
    floats_to_integers: convert::floats_to_integers;
    /// Without it, an integer could be rounded the wrong way, or twice.
    integers_to_floats: convert::integers_to_floats;
    /// Without it, formats could be narrowed with a wrong rounding, flush or saturation.
    floats_to_floats: formats::all;
    /// Without it, directed rounding, subnormals and signed zeros could be wrong.
    single_and_double: float::all;
    /// Without it, half precision and bfloat16 could be rounded twice or flushed wrongly.
    halves: half::all;
    /// Without it, approximations could leave the error that PTX allows.
    approximations: approx::all;
    /// Without it, lanes could read the wrong neighbour or count the wrong votes.
    warps: warp::all;
    /// Without it, an atomic could return or leave a wrong value.
    atomics: atomic::all;
    /// Without it, narrow and vector accesses could touch wrong bytes or extend wrongly.
    memory: memory::all;
}

/// The size of the tables is part of what they promise. Without it, a table could become
/// empty and its test still pass.
#[test]
fn the_tables_are_large() {
    let (mut forms, mut cases) = (0, 0);
    for (name, table) in all() {
        let size: usize = table.iter().map(Form::cases).sum();
        println!("{name}: {} forms, {size} cases", table.len());
        assert!(!table.is_empty(), "{name} is empty");
        for form in &table {
            assert!(form.cases() > 0, "{} has no case", form.name);
        }
        forms += table.len();
        cases += size;
    }
    println!("all: {forms} forms, {cases} cases");
    // A little below what there are: forms may go, tables may not.
    assert!(forms >= 2_250, "{forms} forms");
    assert!(cases >= 1_550_000, "{cases} cases");
}
