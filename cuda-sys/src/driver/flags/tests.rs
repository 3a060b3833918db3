//! The flag types against the generated files: right bits, and no gaps.

use std::collections::{BTreeMap, BTreeSet};

use super::{StreamFlags, execution, memory};
use crate::header::constants;

/// What the macro tells of one type.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) bits: u32,
    pub(super) used: &'static [&'static str],
    /// The constant as written, and the bits of the flag.
    pub(super) flags: &'static [(&'static str, u64)],
}

const TYPES: &str = include_str!("../../generated/driver.rs");
const API: &str = include_str!("../../generated/driver_api.rs");

/// Generated enums of flags without a type here, and why.
const NO_TYPE: &[(&str, &str)] = &[
    (
        "cl_context_flags_enum",
        "OpenCL's, no function of this API takes it",
    ),
    (
        "cl_event_flags_enum",
        "OpenCL's, no function of this API takes it",
    ),
    (
        "CUevent_sched_flags_enum",
        "no function of this API takes it",
    ),
    (
        "CUmemAllocationGranularity_flags_enum",
        "a choice of one, passed as the generated type",
    ),
    (
        "CUmulticastGranularity_flags_enum",
        "a choice of one, passed as the generated type",
    ),
];

/// Constants that are not zero and not a flag here, and why.
const NO_FLAG: &[(&str, &str)] = &[
    (
        "CU_CTX_BLOCKING_SYNC",
        "the old name of CU_CTX_SCHED_BLOCKING_SYNC",
    ),
    ("CU_CTX_FLAGS_MASK", "all bits of the type"),
    (
        "CU_MEM_ACCESS_FLAGS_PROT_MAX",
        "makes the C enum 32 bits wide",
    ),
    ("CU_MEM_HANDLE_TYPE_MAX", "makes the C enum 32 bits wide"),
];

fn rows() -> impl Iterator<Item = &'static Row> {
    execution::ROWS.iter().chain(memory::ROWS)
}

/// The constant's own name in `CUctx_flags::CU_CTX_SCHED_SPIN.0`.
fn constant_of(value: &str) -> &str {
    let name = value.trim().trim_end_matches(".0");
    name.rsplit("::").next().unwrap_or(name).trim()
}

/// Without it a flag could set another bit than its name says.
#[test]
fn bits_are_the_generated_constants() {
    let values: BTreeMap<&str, i64> = constants(TYPES)
        .into_iter()
        .map(|(_, name, value)| (name, value))
        .collect();
    for row in rows() {
        let mask = u64::MAX >> (64 - row.bits);
        for (value, bits) in row.flags {
            let name = constant_of(value);
            let expected = values[name].cast_unsigned() & mask;
            assert_eq!(*bits, expected, "{}: {name}", row.name);
            assert_ne!(*bits, 0, "{}: {name} is no flag", row.name);
        }
    }
}

/// Without it a flag or a whole enum of a new header could be forgotten.
#[test]
fn every_flag_of_every_flag_enum_is_here() {
    let named: BTreeSet<&str> = rows()
        .flat_map(|row| row.flags)
        .map(|(value, _)| constant_of(value))
        .collect();
    let constants = constants(TYPES);
    let owners: BTreeSet<&str> = constants
        .iter()
        .filter(|(owner, name, _)| !owner.is_empty() && named.contains(name))
        .map(|(owner, ..)| *owner)
        .collect();
    let reason = |list: &[(&str, &str)], name: &str| list.iter().any(|(found, _)| *found == name);
    for (owner, name, value) in &constants {
        if owner.to_lowercase().contains("flag") {
            let covered = owners.contains(owner);
            assert!(
                covered != reason(NO_TYPE, owner),
                "{owner}: exactly one of a type and a reason"
            );
        }
        if owners.contains(owner) && *value != 0 {
            let covered = named.contains(name);
            assert!(
                covered != reason(NO_FLAG, name),
                "{name}: exactly one of a flag and a reason"
            );
        }
    }
}

/// The functions' flag parameters and the structures' flag fields, with their C types.
fn uses() -> BTreeMap<String, String> {
    let mut uses = BTreeMap::new();
    for line in API
        .lines()
        .filter_map(|line| line.trim().strip_prefix("fn "))
    {
        let name = line.split(' ').next().unwrap_or("");
        let name = name.trim_end_matches("_ptsz").trim_end_matches("_ptds");
        for part in line.split(['(', ',']) {
            if let Some((argument, ty)) = part.trim().split_once(": ")
                && argument.to_lowercase().ends_with("flags")
            {
                uses.insert(name.to_owned(), ty.trim_end_matches(')').to_owned());
            }
        }
    }
    for (field, ty) in fields().filter(|(field, _)| field.to_lowercase().ends_with(".flags")) {
        uses.insert(field, ty);
    }
    uses
}

/// Every `structure.field` and its type.
fn fields() -> impl Iterator<Item = (String, String)> {
    let mut owner = "";
    TYPES.lines().filter_map(move |line| {
        if let Some(rest) = line
            .strip_prefix("pub struct ")
            .or(line.strip_prefix("pub union "))
        {
            owner = rest.split([' ', '(']).next().unwrap_or("");
        }
        let (field, ty) = line.strip_prefix("    pub ")?.split_once(": ")?;
        Some((
            format!("{owner}.{field}"),
            ty.trim_end_matches(',').to_owned(),
        ))
    })
}

/// Without it a flag argument could be without a type, or a type be for another argument,
/// or cut off half of the bits.
#[test]
fn every_flag_argument_has_one_type() {
    let uses = uses();
    assert!(uses.len() > 100, "the generated files were not read");
    let fields: BTreeMap<String, String> = fields().collect();
    let mut seen = BTreeMap::new();
    for row in rows() {
        for used in row.used {
            assert_eq!(seen.insert(*used, row.name), None, "{used} has two types");
            let ty = uses.get(*used).or(fields.get(*used));
            let ty = ty.unwrap_or_else(|| panic!("{}: there is no {used}", row.name));
            let wide = ty.contains("longlong") || ty.contains("uint64");
            let narrow = ty.contains("c_ushort");
            // The access flags alone come in both widths.
            if row.name != "MemAccessFlags" {
                assert_eq!(
                    row.bits,
                    if wide {
                        64
                    } else if narrow {
                        16
                    } else {
                        32
                    },
                    "{used}: {ty}"
                );
            }
        }
    }
    for used in uses.keys() {
        // These two name a choice of one, or hold no bits themselves.
        let other = ["cuMemGetAllocationGranularity", "cuMulticastGetGranularity"];
        if !other.contains(&used.as_str()) {
            assert!(seen.contains_key(used.as_str()), "{used} has no type");
        }
    }
}

/// Without it a bit of a newer driver could be lost on the way.
#[test]
fn unknown_bits_are_kept() {
    let flags = StreamFlags::from_bits_retain(0x8000_0001);
    assert_eq!(flags.bits(), 0x8000_0001);
    assert_eq!(StreamFlags::from_bits_truncate(0x8000_0001), flags);
    assert_eq!((flags - StreamFlags::NON_BLOCKING).bits(), 0x8000_0000);
    assert_eq!(
        format!("{flags:?}"),
        "StreamFlags(NON_BLOCKING | 0x80000000)"
    );
}

/// Without it a flag could be shown as another, twice, or not at all: `bitflags` itself says what
/// is right, also for flags that share bits.
#[test]
fn bits_are_shown_as_their_names() {
    for bits in (0..0x400).chain([u32::MAX, 1 << 31]) {
        let flags = super::ContextFlags::from_bits_retain(bits);
        let mut names = String::new();
        bitflags::parser::to_writer(&flags, &mut names).unwrap();
        if bits == 0 {
            names.push_str("0x0");
        }
        assert_eq!(format!("{flags:?}"), format!("ContextFlags({names})"));
    }
}
