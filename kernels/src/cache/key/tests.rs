//! No two compiles share a key.

use std::collections::BTreeSet;

use quickcheck::{TestResult, quickcheck};

use super::*;

type Fields = Vec<(String, Vec<Vec<u8>>)>;

fn encoded(fields: &Fields) -> Vec<u8> {
    let mut all = Vec::new();
    for (label, values) in fields {
        encode(label, values, |bytes| all.extend_from_slice(bytes));
    }
    all
}

/// The fields again, if these bytes are an encoding of some.
fn decoded(mut bytes: &[u8]) -> Option<Fields> {
    fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        Some(taken)
    }
    fn number(bytes: &mut &[u8]) -> Option<usize> {
        usize::try_from(u64::from_le_bytes(take(bytes, 8)?.try_into().ok()?)).ok()
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let length = number(&mut bytes)?;
        let label = String::from_utf8(take(&mut bytes, length)?.to_vec()).ok()?;
        let mut values = Vec::new();
        for _ in 0..number(&mut bytes)? {
            let length = number(&mut bytes)?;
            values.push(take(&mut bytes, length)?.to_vec());
        }
        fields.push((label, values));
    }
    Some(fields)
}

quickcheck! {
    /// Without it two sequences of fields could be hashed as the same bytes: then SHA-256 helps
    /// nothing.
    fn fields_can_be_read_back(fields: Fields) -> bool {
        decoded(&encoded(&fields)) == Some(fields)
    }

    /// The same bytes, parted elsewhere.
    fn where_values_are_parted_counts(text: String, one: usize, other: usize) -> TestResult {
        let bytes = text.as_bytes();
        let (one, other) = (one % (bytes.len() + 1), other % (bytes.len() + 1));
        if one == other {
            return TestResult::discard();
        }
        let part = |at: usize| {
            let (left, right) = bytes.split_at(at);
            let lists = KeyBuilder::new("s").list("l", [left, right]).finish();
            let fields = KeyBuilder::new("s").field("a", left).field("a", right).finish();
            [lists, fields]
        };
        let keys: BTreeSet<_> = part(one).into_iter().chain(part(other)).collect();
        TestResult::from_bool(keys.len() == 4)
    }
}

static OTHER: [FileIdentity; 1] = [FileIdentity::from_bytes(Vec::new())];

/// Runs `change` on inputs with every field filled, and says whether the key changed.
fn changes(change: impl FnOnce(&mut CompileInputs<'_>)) -> bool {
    let library = FileIdentity::from_bytes(vec![1, 2, 3]);
    let libraries = [library];
    let headers = [
        Header {
            name: "a.h",
            text: b"1",
        },
        Header {
            name: "b.h",
            text: b"2",
        },
    ];
    let environment = [Variable {
        name: "NVRTC_X",
        value: Some(b"1"),
    }];
    let inputs = CompileInputs {
        compiler: "nvrtc 13.0.88",
        libraries: &libraries,
        architecture: "sm_90",
        output: ImageKind::Cubin,
        options: &[b"-lineinfo" as &[u8], b"-DN=1"],
        name: "kernel.cu",
        source: b"__global__ void k() {}",
        headers: &headers,
        expressions: &["k<int>", "k<float>"],
        environment: &environment,
        folder: Some(Path::new("/there")),
    };
    let mut changed = inputs;
    change(&mut changed);
    assert_eq!(inputs.key(), inputs.key(), "a key is of its inputs alone");
    inputs.key() != changed.key()
}

/// Without these a compile could be given the output of another compiler, architecture, option,
/// source, header, name or environment: the commonest cause of wrong results in caches.
macro_rules! ingredient {
    ($($name:ident: $($change:expr),+;)*) => {
        $(
            #[test]
            fn $name() {
                $(assert!(changes($change), "{}", stringify!($change));)+
            }
        )*
    };
}

ingredient! {
    the_compiler_counts: |i| i.compiler = "nvrtc 13.0.89";
    the_compilers_files_count: |i| i.libraries = &[],
        |i| i.libraries = &OTHER;
    the_architecture_counts_with_its_suffix: |i| i.architecture = "sm_90a",
        |i| i.architecture = "compute_90";
    the_output_counts: |i| i.output = ImageKind::Ptx;
    options_count_in_order: |i| i.options = &[b"-DN=1" as &[u8], b"-lineinfo"],
        |i| i.options = &[b"-lineinfo"],
        |i| i.options = &[b"-lineinfo" as &[u8], b"-DN=2"],
        |i| i.options = &[b"-lineinfo -DN=1"];
    the_name_counts: |i| i.name = "kernel2.cu";
    the_source_counts: |i| i.source = b"__global__ void k() { }";
    the_names_of_headers_count:
        |i| i.headers = &[Header { name: "b.h", text: b"1" }, Header { name: "a.h", text: b"2" }];
    the_texts_of_headers_count:
        |i| i.headers = &[Header { name: "a.h", text: b"1" }, Header { name: "b.h", text: b"3" }];
    expressions_count: |i| i.expressions = &["k<int>"], |i| i.expressions = &["k<int>k<float>"];
    the_environment_counts: |i| i.environment = &[],
        |i| i.environment = &[Variable { name: "NVRTC_X", value: None }],
        |i| i.environment = &[Variable { name: "NVRTC_X", value: Some(b"") }],
        |i| i.environment = &[Variable { name: "NVRTC_Y", value: Some(b"1") }];
    the_folder_counts: |i| i.folder = None, |i| i.folder = Some(Path::new("/other"));
}
