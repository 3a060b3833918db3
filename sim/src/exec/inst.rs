//! The decoded form of an instruction: one function pointer and the byte offsets
//! of its registers in the frame's file. Immediates, symbol addresses and the
//! like live in registers of their own that are filled when a frame is made, so
//! an operation needs only one form.

use super::ctx::Ctx;
use crate::ptx::ScalarType;

/// What an operation tells the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Go on with the next instruction.
    Next,
    /// [`Ctx::fault`] says what went wrong.
    Fault,
}

/// Executes one instruction for the lanes of a mask.
///
/// # Safety
/// `ctx.regs` must be the register file of a frame of the function that the
/// instruction was decoded for, and `ctx`'s other pointers those of its warp.
/// The AVX2 twins also need a CPU with AVX2, FMA and BMI.
pub(crate) type OpFn = unsafe fn(&mut Ctx<'_>, &Inst, u32) -> Flow;

/// Who executes the instruction: [`Kind::Op`] is `Inst::f`, the others are the
/// scheduler's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Per-lane operation.
    Op,
    /// Branch to `x`; once the function is finished, to `e`.
    Bra,
    /// `f`, for all lanes, then as [`Kind::Bra`]: the guard is the branch's.
    OpBra,
    /// Branch to entry `a` (a register) of target list `x`.
    Brx,
    /// Call site `x`.
    Call,
    /// Return from the frame.
    Ret,
    /// End of the thread.
    Exit,
    /// Block barrier of kind `bar`: `a` is its number, `b` the thread count or
    /// `NONE`.
    Bar,
    /// Per-lane operation that needs all lanes of mask `e` together.
    WarpOp,
    /// `bar.warp.sync` with mask `e`.
    WarpBar,
    /// `trap`.
    Trap,
    /// Lets others run: `nanosleep`.
    Yield,
}

/// What a block barrier does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarKind {
    Sync,
    Arrive,
    /// `.red.popc`: `d` is a 32-bit register, `p` the predicate.
    Popc,
    /// `.red.and`: `d` and `p` are predicates.
    And,
    /// `.red.or`.
    Or,
}

/// What an operation expects in an operand field of its instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// It does not take it for a register.
    Nothing,
    /// A register of this class.
    Reg(Class),
    /// A register of this class, or [`NONE`].
    Maybe(Class),
}

/// What an operation expects in its instruction. The decoder compares every instruction
/// with it, so that no mistake of an opcode's decoder becomes an access outside a register.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) d: Need,
    pub(crate) a: Need,
    pub(crate) b: Need,
    pub(crate) c: Need,
    pub(crate) e: Need,
    pub(crate) p: Need,
}

impl Shape {
    /// No registers.
    pub(crate) const NONE: Self = Shape {
        d: Need::Nothing,
        a: Need::Nothing,
        b: Need::Nothing,
        c: Need::Nothing,
        e: Need::Nothing,
        p: Need::Nothing,
    };

    /// What the scheduler's part of an instruction expects on top.
    pub(crate) fn and(mut self, kind: Kind, bar: BarKind) -> Self {
        let word = Need::Reg(Class::W32);
        match kind {
            Kind::WarpOp | Kind::WarpBar => self.e = word,
            Kind::Brx => self.a = word,
            Kind::Bar => {
                (self.a, self.b) = (word, Need::Maybe(Class::W32));
                (self.d, self.p) = match bar {
                    BarKind::Sync | BarKind::Arrive => (Need::Nothing, Need::Maybe(Class::Pred)),
                    BarKind::Popc => (word, Need::Reg(Class::Pred)),
                    BarKind::And | BarKind::Or => (Need::Reg(Class::Pred), Need::Reg(Class::Pred)),
                };
            }
            _ => {}
        }
        self
    }
}

/// "No such register" in an operand field.
pub(crate) const NONE: u32 = u32::MAX;

/// A decoded instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inst {
    pub(crate) f: OpFn,
    pub(crate) d: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
    pub(crate) e: u32,
    pub(crate) p: u32,
    /// Immediate: branch target, address offset, mode bits.
    pub(crate) x: u64,
    /// Guard predicate: offset times two, plus one if negated; or [`NONE`].
    pub(crate) guard: u32,
    pub(crate) line: u32,
    pub(crate) kind: Kind,
    pub(crate) bar: BarKind,
    /// What the operation is, if the last pass can join it with others.
    pub(crate) tag: Tag,
    /// Instructions of the program that this one stands for.
    pub(crate) weight: u8,
    /// How many instructions from here on, this one included, are operations without
    /// guards that follow each other whatever happens.
    pub(crate) run: u16,
    /// The sum of their weights.
    pub(crate) steps: u16,
}

/// Operations that can be joined with the one behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Tag {
    /// Anything else.
    Other,
    Add32,
    Sub32,
    Mul32,
    And32,
    Or32,
    Xor32,
    /// By the constant in `x`.
    Shl32,
    /// By the constant in `x`, without sign.
    Shr32,
    Add64,
    Sub64,
    Mul64,
    And64,
    Or64,
    Xor64,
    /// By the constant in `x`.
    Shl64,
    /// By the constant in `x`, without sign.
    Shr64,
    MulWideU32,
    MulWideS32,
    /// From 32 to 64 bits, without sign.
    Widen,
    AddF32,
    SubF32,
    MulF32,
    AddF64,
    SubF64,
    MulF64,
}

/// How a value is stored in the register file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// 32 lanes of 32 bits; also holds 8- and 16-bit values.
    W32,
    /// 32 lanes of 64 bits.
    W64,
    /// One bit per lane, in one `u32`.
    Pred,
    /// Two registers of 64 bits, the lower half first.
    W128,
}

impl Class {
    /// The class of a type.
    pub(crate) fn of(ty: ScalarType) -> Self {
        match ty {
            ScalarType::Pred => Self::Pred,
            ScalarType::B128 => Self::W128,
            _ if ty.size() == 8 => Self::W64,
            _ => Self::W32,
        }
    }

    /// Bytes in the file.
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Self::W32 => 128,
            Self::W64 => 256,
            Self::Pred => 4,
            Self::W128 => 512,
        }
    }
}

/// Where a call leads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Callee {
    /// Function of the program.
    Direct(u32),
    /// Register with a function address.
    Indirect(u32),
    /// `vprintf(format, arguments)`.
    Printf,
    /// `__assertfail(message, file, line, function, size)`.
    AssertFail,
    /// `malloc(size)`.
    Malloc,
    /// `free(address)`.
    Free,
    /// `cudaGraphSetConditional(handle, value)`.
    SetConditional,
}

/// Bytes moved between the caller's and the callee's parameter areas.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Move {
    /// Offset in the caller's local frame.
    pub(crate) caller: u32,
    /// Offset in the callee's local frame.
    pub(crate) callee: u32,
    pub(crate) size: u32,
}

/// A call site.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) callee: Callee,
    pub(crate) args: Vec<Move>,
    pub(crate) rets: Vec<Move>,
}

/// A decoded function.
#[derive(Debug)]
pub(crate) struct Func {
    pub(crate) name: String,
    pub(crate) code: Vec<Inst>,
    /// Bytes of a frame's register file.
    pub(crate) frame_bytes: u32,
    /// Constant registers: offset, class and value.
    pub(crate) consts: Vec<(u32, Class, u64)>,
    /// Bytes of local memory per lane and frame, a multiple of 16.
    pub(crate) local_bytes: u32,
    pub(crate) calls: Vec<Call>,
    pub(crate) tables: Vec<Vec<u32>>,
}
