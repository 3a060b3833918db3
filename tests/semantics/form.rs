//! An instruction form, the operands it is tried on, and what each try must give.

/// A PTX type, of an operand or in an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Pred,
    B8,
    B16,
    B32,
    B64,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    BF16,
    BF16x2,
    F32,
    F64,
}

impl Ty {
    /// As in an opcode, without the dot.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pred => "pred",
            Self::B8 => "b8",
            Self::B16 => "b16",
            Self::B32 => "b32",
            Self::B64 => "b64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::S8 => "s8",
            Self::S16 => "s16",
            Self::S32 => "s32",
            Self::S64 => "s64",
            Self::F16 => "f16",
            Self::F16x2 => "f16x2",
            Self::BF16 => "bf16",
            Self::BF16x2 => "bf16x2",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Pred => 1,
            Self::B8 | Self::U8 | Self::S8 => 8,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::BF16 => 16,
            Self::B32 | Self::U32 | Self::S32 | Self::F32 | Self::F16x2 | Self::BF16x2 => 32,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 => 64,
        }
    }

    pub(crate) fn signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// The declared type of a register that holds it. Bit types agree with every type of
    /// their size, and there are no 8-bit registers in arithmetic.
    pub(crate) fn register(self) -> &'static str {
        match self.bits() {
            1 => "pred",
            8 | 16 => "b16",
            32 => "b32",
            _ => "b64",
        }
    }

    /// The bits that a register of this type holds.
    pub(crate) fn mask(self) -> u64 {
        match self.bits() {
            1 => 1,
            8 | 16 => 0xffff,
            32 => 0xffff_ffff,
            _ => u64::MAX,
        }
    }
}

/// What an output must be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expect {
    Is(u64),
    /// PTX leaves a choice, and these are all of it.
    OneOf(Vec<u64>),
    /// A NaN of the output's type, with any sign and payload.
    Nan,
    /// A number of the output's type between these, ends included; zeros have any sign.
    Between(f64, f64),
    /// Of two halves in one word: the lower one, the upper one.
    Halves(Box<Expect>, Box<Expect>),
    /// PTX leaves the value open: what comes is shown and not judged, and is no case.
    Open,
}

impl From<u64> for Expect {
    fn from(bits: u64) -> Self {
        Self::Is(bits)
    }
}

/// What a thread's outputs must be, from its operands.
type OfThread = dyn Fn(&[u64]) -> Vec<Expect>;

/// What the outputs of 32 lanes must be, from their operands.
type OfWarp = dyn Fn(&[Vec<u64>]) -> Vec<Vec<Expect>>;

/// What the outputs must be.
pub(crate) enum Oracle {
    Thread(Box<OfThread>),
    Warp(Box<OfWarp>),
}

/// The PTX version and the target that a form needs: `(78, 90)` is PTX 7.8 and `sm_90`.
pub(crate) type Needs = (u32, u32);

/// What most forms need. The oldest that all of a table's usual instructions know.
const USUAL: Needs = (78, 80);

/// One instruction form and its cases.
pub(crate) struct Form {
    /// Opcode, modifiers and types; and what else tells it from others.
    pub(crate) name: String,
    pub(crate) needs: Needs,
    pub(crate) inputs: Vec<Ty>,
    pub(crate) outputs: Vec<Ty>,
    /// PTX from `%a0`, `%a1`, ... to `%d0`, `%d1`, ...
    pub(crate) body: String,
    /// Operands, one list for each thread. A warp form has whole warps.
    pub(crate) operands: Vec<Vec<u64>>,
    pub(crate) oracle: Oracle,
}

impl Form {
    /// `NAME %d0, %a0, %a1, ...;` with one output.
    pub(crate) fn new<E: Into<Expect>>(
        name: impl Into<String>,
        inputs: &[Ty],
        output: Ty,
        operands: Vec<Vec<u64>>,
        oracle: impl Fn(&[u64]) -> E + 'static,
    ) -> Self {
        Self::many(name, inputs, &[output], operands, move |a| {
            vec![oracle(a).into()]
        })
    }

    /// With any number of outputs; [`body`](Self::body) says how they come about.
    pub(crate) fn many(
        name: impl Into<String>,
        inputs: &[Ty],
        outputs: &[Ty],
        operands: Vec<Vec<u64>>,
        oracle: impl Fn(&[u64]) -> Vec<Expect> + 'static,
    ) -> Self {
        let name = name.into();
        let sources: String = (0..inputs.len()).map(|i| format!(", %a{i}")).collect();
        let body = format!("{name} %d0{sources};");
        Self {
            name,
            needs: USUAL,
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
            body,
            operands,
            oracle: Oracle::Thread(Box::new(oracle)),
        }
    }

    /// Judged warp by warp: the oracle gets the operands of 32 lanes.
    pub(crate) fn warp(
        name: impl Into<String>,
        inputs: &[Ty],
        outputs: &[Ty],
        operands: Vec<Vec<u64>>,
        oracle: impl Fn(&[Vec<u64>]) -> Vec<Vec<Expect>> + 'static,
    ) -> Self {
        assert_eq!(operands.len() % 32, 0, "whole warps");
        let mut form = Self::many(name, inputs, outputs, operands, |_| Vec::new());
        form.oracle = Oracle::Warp(Box::new(oracle));
        form
    }

    pub(crate) fn body(mut self, body: impl Into<String>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn needs(mut self, ptx: u32, sm: u32) -> Self {
        self.needs = (ptx, sm);
        self
    }

    /// What each thread's outputs must be.
    pub(crate) fn expected(&self) -> Vec<Vec<Expect>> {
        match &self.oracle {
            Oracle::Thread(oracle) => self.operands.iter().map(|a| oracle(a)).collect(),
            Oracle::Warp(oracle) => self.operands.chunks(32).flat_map(oracle).collect(),
        }
    }

    /// How many tries are judged.
    pub(crate) fn cases(&self) -> usize {
        self.expected()
            .iter()
            .filter(|outputs| outputs.iter().any(|e| *e != Expect::Open))
            .count()
    }
}
