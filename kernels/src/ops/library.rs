//! The kernels of the device library, each loaded when it is first launched.
//!
//! There are well over a hundred. A driver compiles PTX when it loads it, so one file is loaded for one
//! family of kernels, and none before a kernel of it is needed.

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

use cupola_managers::module::Function;
use cupola_managers::{Context, Result};

use super::element::ElementType;
use super::family::KernelFamily;
use super::{Loader, invalid};
use crate::EMBEDDED;

/// An operation on each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
}

/// An operation of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Unary {
    Neg,
    Abs,
}

/// What many elements are made one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Reduction {
    Sum,
    Min,
    Max,
    ArgMin,
    ArgMax,
}

/// A kernel of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LibraryKernel {
    Fill,
    Copy,
    /// Of two arrays.
    Binary(Operation, ElementType),
    /// Of an array and one number.
    Scalar(Operation, ElementType),
    Unary(Unary, ElementType),
    Axpy(ElementType),
    Fma(ElementType),
    Reduce(Reduction, ElementType),
    Convert(ElementType, ElementType),
}

/// Kernels that are of no element type.
const UNTYPED: usize = 2;
/// Kernels of each element type: operations, their scalar forms, two of one operand, `axpy` and `fma`,
/// reductions, and conversions to each type.
const ROWS: usize = 6 + 6 + 2 + 2 + 5 + ElementType::COUNT;

impl LibraryKernel {
    /// Its place in [`Library::functions`].
    const fn place(self) -> usize {
        let (row, of) = match self {
            Self::Fill => return 0,
            Self::Copy => return 1,
            Self::Binary(operation, of) => (operation as usize, of),
            Self::Scalar(operation, of) => (6 + operation as usize, of),
            Self::Unary(operation, of) => (12 + operation as usize, of),
            Self::Axpy(of) => (14, of),
            Self::Fma(of) => (15, of),
            Self::Reduce(reduction, of) => (16 + reduction as usize, of),
            Self::Convert(from, to) => (21 + to as usize, from),
        };
        UNTYPED + row * ElementType::COUNT + of as usize
    }

    /// The kernel's name in its module. Those of signed integers that do the same as those of
    /// unsigned ones are these.
    fn entry(self) -> String {
        match self {
            Self::Fill => "cupola_fill".into(),
            Self::Copy => "cupola_copy".into(),
            Self::Binary(operation, of) => {
                format!("cupola_{}_{}", operation.name(), operation.on(of).name())
            }
            Self::Scalar(operation, of) => {
                let on = operation.on(of).name();
                format!("cupola_{}_scalar_{on}", operation.name())
            }
            Self::Unary(Unary::Neg, of) => format!("cupola_neg_{}", of.name()),
            Self::Unary(Unary::Abs, of) => format!("cupola_abs_{}", of.name()),
            Self::Axpy(of) => format!("cupola_axpy_{}", of.unsigned().name()),
            Self::Fma(of) => format!("cupola_fma_{}", of.name()),
            Self::Reduce(reduction, of) => {
                let (name, of) = match reduction {
                    Reduction::Sum => ("sum", of.unsigned()),
                    Reduction::Min => ("min", of),
                    Reduction::Max => ("max", of),
                    Reduction::ArgMin => ("arg_min", of),
                    Reduction::ArgMax => ("arg_max", of),
                };
                format!("cupola_reduce_{name}_{}", of.name())
            }
            Self::Convert(from, to) => {
                let (from, to) = conversion(from, to);
                format!("cupola_convert_{}_{}", from.name(), to.name())
            }
        }
    }
}

/// The types of the kernel that does a conversion: between integers the signs matter less than all.
fn conversion(from: ElementType, to: ElementType) -> (ElementType, ElementType) {
    if from.is_float() || to.is_float() {
        return (from, to);
    }
    if to.bytes() < from.bytes() {
        return (from.unsigned(), to.unsigned());
    }
    // What is added in front depends on the narrow one.
    match from.is_signed() {
        true => (from, to.signed()),
        false => (from, to.unsigned()),
    }
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::Div => "div",
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// The type whose kernel does it for elements of type `of`.
    fn on(self, of: ElementType) -> ElementType {
        match self {
            Self::Add | Self::Sub | Self::Mul | Self::Div => of.unsigned(),
            Self::Min | Self::Max => of,
        }
    }
}

/// The kernels of one context that have been launched, and the modules that they are of.
pub(super) struct Library {
    context: Context,
    modules: Mutex<Loader>,
    functions: Box<[OnceLock<Function>]>,
}

impl Library {
    pub(super) fn new(context: &Context, loader: Loader) -> Self {
        let places = UNTYPED + ROWS * ElementType::COUNT;
        Self {
            context: context.clone(),
            modules: Mutex::new(loader),
            functions: (0..places).map(|_| OnceLock::new()).collect(),
        }
    }

    /// The kernel, of which the first call loads its file.
    pub(super) fn function(&self, kernel: LibraryKernel) -> Result<&Function> {
        let place = &self.functions[kernel.place()];
        match place.get() {
            Some(function) => Ok(function),
            None => self.load(kernel, place),
        }
    }

    /// Loads the kernels of a family.
    pub(super) fn preload(&self, family: KernelFamily) -> Result<()> {
        let mut files = EMBEDDED.iter();
        let Some(file) = files.find(|file| file.name() == family.file()) else {
            return Err(invalid("family", format!("{family:?} is not embedded")));
        };
        let mut loader = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        loader.preload(&self.context, file)
    }

    #[cold]
    fn load<'l>(
        &self,
        kernel: LibraryKernel,
        place: &'l OnceLock<Function>,
    ) -> Result<&'l Function> {
        // Held while a file is loaded: another thread that needs it waits, and does not load it again.
        // A panic leaves a list of whole modules.
        let mut loader = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let function = loader.function(&self.context, &kernel.entry())?;
        Ok(place.get_or_init(|| function))
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loaded = self.functions.iter().filter_map(OnceLock::get);
        f.debug_list().entries(loaded).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::super::element::ElementType as T;
    use super::*;
    use crate::Embedded;

    fn all() -> Vec<LibraryKernel> {
        use LibraryKernel as K;
        let types = [
            T::F16,
            T::Bf16,
            T::F32,
            T::F64,
            T::I8,
            T::U8,
            T::I16,
            T::U16,
            T::I32,
            T::U32,
            T::I64,
            T::U64,
        ];
        let numbers = [T::F32, T::F64, T::I32, T::I64, T::U32, T::U64];
        let mut all = vec![K::Fill, K::Copy];
        for of in numbers {
            let is_signed = of.is_signed() || of.is_float();
            use Operation::*;
            for operation in [Add, Sub, Mul, Div, Min, Max] {
                if operation == Div && !of.is_float() {
                    continue;
                }
                all.push(K::Binary(operation, of));
                if operation != Sub {
                    all.push(K::Scalar(operation, of));
                }
            }
            if is_signed {
                all.extend([K::Unary(Unary::Neg, of), K::Unary(Unary::Abs, of)]);
            }
            if of.is_float() {
                all.push(K::Fma(of));
            }
            all.push(K::Axpy(of));
            use Reduction as R;
            let reductions = [R::Sum, R::Min, R::Max, R::ArgMin, R::ArgMax];
            all.extend(reductions.map(|reduction| K::Reduce(reduction, of)));
        }
        for from in types {
            for to in types {
                let is_half = |of: T| of.is_float() && of.bytes() == 2;
                let too_wide = |of: T| !of.is_float() && of.bytes() > 2;
                let both_integers = !from.is_float() && !to.is_float();
                let is_copy = from == to || both_integers && from.bytes() == to.bytes();
                let rounds_twice = is_half(from) && too_wide(to) || is_half(to) && too_wide(from);
                if !is_copy && !rounds_twice {
                    all.push(K::Convert(from, to));
                }
            }
        }
        all
    }

    // Without it a call could ask for a kernel that there is not, or one be embedded that no call uses.
    #[test]
    fn the_kernels_that_calls_ask_for_are_those_that_are_embedded() {
        let asked: HashSet<String> = all().iter().map(|kernel| kernel.entry()).collect();
        // The files that hold nothing but kernels of the library.
        let families = KernelFamily::ALL.map(KernelFamily::file);
        let files = EMBEDDED
            .iter()
            .filter(|file| families.contains(&file.name()));
        let embedded: HashSet<String> = files
            .flat_map(Embedded::entries)
            .map(|&entry| entry.to_owned())
            .collect();
        assert_eq!(asked, embedded);
    }

    // Without it two kernels could share a place, and a launch run the one that came first.
    #[test]
    fn kernels_of_one_place_are_one_kernel() {
        let mut places = HashMap::new();
        for kernel in all() {
            assert!(kernel.place() < UNTYPED + ROWS * T::COUNT, "{kernel:?}");
            let other = places.insert(kernel.place(), kernel);
            assert_eq!(other, None, "{kernel:?}");
        }
    }
}
