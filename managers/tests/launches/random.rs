//! Kernels of random parameters, launched with lists that match them and with lists that do not.

use std::fmt::Write as _;

use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchArgs, LaunchConfig};
use cupola_managers::{Buffer, Error, Result};
use cupola_sys::driver::id;
use quickcheck::{Arbitrary, Gen, QuickCheck};

use super::Bench;

/// A type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    U8,
    U16,
    U32,
    U64,
    F32,
    /// Bytes of a struct, of alignment 1, 4, 8 and 16.
    Bytes3,
    Bytes12,
    Bytes24,
    Bytes32,
    Pointer,
}

impl Kind {
    const ALL: [Self; 10] = [
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F32,
        Self::Bytes3,
        Self::Bytes12,
        Self::Bytes24,
        Self::Bytes32,
        Self::Pointer,
    ];

    fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
            Self::U64 | Self::Pointer => 8,
            Self::Bytes3 => 3,
            Self::Bytes12 => 12,
            Self::Bytes24 => 24,
            Self::Bytes32 => 32,
        }
    }

    /// The parameter's declaration.
    fn declaration(self, name: &str) -> String {
        match self {
            Self::U8 => format!(".param .u8 {name}"),
            Self::U16 => format!(".param .u16 {name}"),
            Self::U32 => format!(".param .u32 {name}"),
            Self::F32 => format!(".param .f32 {name}"),
            Self::U64 | Self::Pointer => format!(".param .u64 {name}"),
            Self::Bytes3 => format!(".param .align 1 .b8 {name}[3]"),
            Self::Bytes12 => format!(".param .align 4 .b8 {name}[12]"),
            Self::Bytes24 => format!(".param .align 8 .b8 {name}[24]"),
            Self::Bytes32 => format!(".param .align 16 .b8 {name}[32]"),
        }
    }

    /// Adds an argument of these bytes, or of the buffer's address.
    fn push(
        self,
        arguments: &mut LaunchArgs,
        bytes: &[u8],
        bench: &Bench,
        buffer: &Buffer<u8>,
    ) -> Result<()> {
        fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
            bytes[..N].try_into().unwrap()
        }
        fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
            std::array::from_fn(|word| u64::from_ne_bytes(first(&bytes[8 * word..])))
        }
        match self {
            Self::U8 => arguments.push(bytes[0]),
            Self::U16 => arguments.push(u16::from_ne_bytes(first(bytes))),
            Self::U32 => arguments.push(u32::from_ne_bytes(first(bytes))),
            Self::U64 => arguments.push(u64::from_ne_bytes(first(bytes))),
            Self::F32 => arguments.push(f32::from_ne_bytes(first(bytes))),
            Self::Bytes3 => arguments.push(first::<3>(bytes)),
            Self::Bytes12 => {
                arguments.push([0, 4, 8].map(|at| u32::from_ne_bytes(first(&bytes[at..]))))
            }
            Self::Bytes24 => arguments.push(words::<3>(bytes)),
            Self::Bytes32 => {
                let [a, b] = [0, 16].map(|at| u128::from_ne_bytes(first(&bytes[at..])));
                arguments.push([a, b])
            }
            Self::Pointer => arguments.push_for(buffer, &bench.stream),
        }
    }
}

/// The kinds of a kernel's parameters, and a seed of the arguments' bytes.
#[derive(Clone, Debug)]
struct Case {
    kinds: Vec<Kind>,
    bytes: Vec<u8>,
}

impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        let count = usize::arbitrary(g) % 9;
        let mut kinds = Vec::new();
        for _ in 0..count {
            kinds.push(*g.choose(&Kind::ALL).unwrap());
        }
        let bytes = (0..32 * 9).map(|_| u8::arbitrary(g)).collect();
        Self { kinds, bytes }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let (kinds, bytes) = (self.kinds.clone(), self.bytes.clone());
        Box::new((0..kinds.len()).map(move |left_out| {
            let mut kinds = kinds.clone();
            kinds.remove(left_out);
            let bytes = bytes.clone();
            Self { kinds, bytes }
        }))
    }
}

impl Case {
    /// A kernel that writes the bytes of all its parameters, one behind the other, to where the last one
    /// points.
    fn ptx(&self) -> String {
        let (mut parameters, mut body, mut at) = (String::new(), String::new(), 0);
        for (index, kind) in self.kinds.iter().enumerate() {
            let name = format!("p{index}");
            write!(parameters, "{}, ", kind.declaration(&name)).unwrap();
            for byte in 0..kind.size() {
                writeln!(
                    body,
                    "ld.param.u8 %r, [{name}+{byte}]; st.global.u8 [%to+{at}], %r;"
                )
                .unwrap();
                at += 1;
            }
        }
        format!(
            ".visible .entry tell({parameters}.param .u64 to) {{\n.reg .b32 %r; .reg .b64 %to;\n\
             ld.param.u64 %to, [to];\n{body}ret;\n}}\n"
        )
    }

    /// Arguments of these kinds, whose bytes are the case's, and the place that the kernel writes to.
    fn arguments(
        &self,
        kinds: &[Kind],
        bench: &Bench,
        told: &mut Buffer<u8>,
        named: &Buffer<u8>,
    ) -> LaunchArgs {
        let mut arguments = LaunchArgs::new();
        for (index, kind) in kinds.iter().enumerate() {
            let bytes = &self.bytes[32 * index..][..32];
            kind.push(&mut arguments, bytes, bench, named).unwrap();
        }
        arguments.push_for(told, &bench.stream).unwrap();
        arguments
    }

    /// The bytes that the kernel gets.
    fn expected(&self, named: &Buffer<u8>) -> Vec<u8> {
        let mut expected = Vec::new();
        for (index, kind) in self.kinds.iter().enumerate() {
            match kind {
                Kind::Pointer => expected.extend(named.as_raw().to_ne_bytes()),
                kind => expected.extend(&self.bytes[32 * index..][..kind.size()]),
            }
        }
        expected
    }

    /// Lists that are not the kernel's: one argument left out, one more, one of another size.
    fn others(&self) -> Vec<Vec<Kind>> {
        let mut others = Vec::new();
        for index in 0..self.kinds.len() {
            let mut fewer = self.kinds.clone();
            fewer.remove(index);
            others.push(fewer);
            for kind in Kind::ALL {
                if kind.size() != self.kinds[index].size() {
                    let mut wrong = self.kinds.clone();
                    wrong[index] = kind;
                    others.push(wrong);
                }
            }
        }
        for kind in Kind::ALL {
            let mut more = self.kinds.clone();
            more.push(kind);
            // Behind the last is the place that is written to.
            others.push(more);
        }
        others
    }
}

fn launch(function: &Function, arguments: LaunchArgs, bench: &Bench) -> Result<()> {
    let grid = LaunchConfig::linear(1, 1);
    // SAFETY: the kernel writes as many bytes as its parameters have to memory of more.
    unsafe { ops::launch(function, grid, arguments, &bench.stream) }
}

fn property(case: &Case) -> bool {
    let bench = Bench::new();
    let pool = bench.base.pool(8 << 20);
    let named = pool.zeros::<u8>(8, &bench.stream).unwrap();
    let mut told = pool.zeros::<u8>(512, &bench.stream).unwrap();
    let function = bench.function(&case.ptx(), "tell");

    bench.base.faults.reset();
    for kinds in case.others() {
        let arguments = case.arguments(&kinds, &bench, &mut told, &named);
        let given = arguments.sizes().to_vec();
        let Err(Error::Arguments { mismatch, .. }) = launch(&function, arguments, &bench) else {
            panic!("{kinds:?} was taken for {:?}", case.kinds);
        };
        assert_eq!(&*mismatch.given, given);
        assert_eq!(mismatch.declared.len(), case.kinds.len() + 1);
    }
    let launched = || {
        let calls = [id::cuLaunchKernel, id::cuLaunchKernelEx];
        calls.map(|call| bench.base.faults.count(call))
    };
    assert_eq!(launched(), [0, 0]);

    let arguments = case.arguments(&case.kinds, &bench, &mut told, &named);
    launch(&function, arguments, &bench).unwrap();
    assert_eq!(launched(), [1, 0]);
    let expected = case.expected(&named);
    let got = told.to_vec(&bench.stream).unwrap();
    assert_eq!(got[..expected.len()], expected, "{:?}", case.kinds);
    bench.finish((function, named, told, pool));
    true
}

// Without it a list could pass for one of other sizes and the kernel read its neighbours, or a value be
// written where the kernel does not read it.
#[test]
fn a_list_is_launched_exactly_if_it_has_the_kernels_sizes() {
    #[expect(clippy::needless_pass_by_value, reason = "quickcheck hands out values")]
    fn of(case: Case) -> bool {
        property(&case)
    }
    QuickCheck::new()
        .tests(60)
        .quickcheck(of as fn(Case) -> bool);
    let kinds = Kind::ALL[..8].to_vec();
    let bytes = (0..=255).chain(0..32).collect();
    assert!(property(&Case { kinds, bytes }));
}
