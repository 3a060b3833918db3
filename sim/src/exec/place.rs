//! Placing module variables: addresses from the device, initial bytes from the
//! module.

use crate::ptx::{Init, ScalarType, Var};

/// Which of the device's memories a variable belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VarSpace {
    /// `.global`.
    Global,
    /// `.const`: kernels never write it.
    Const,
    /// `.global` with `.attribute(.managed)`: the host reaches it at the same address.
    Managed,
}

/// The device's side of loading a module.
pub trait Placement {
    /// An address for a variable, aligned as asked, or `None` if there is no
    /// room. The memory must live as long as the program.
    fn place(&mut self, name: &str, space: VarSpace, size: u64, align: u64) -> Option<u64>;

    /// Sets the initial value of a placed variable. Memory that is not set
    /// reads as zero.
    fn fill(&mut self, address: u64, bytes: &[u8]);
}

/// Why a module cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// `.address_size 32`.
    #[error("modules with 32-bit addresses are not supported")]
    AddressSize,
    /// Two definitions with one name.
    #[error("PTX line {line}: {name} is defined twice")]
    Duplicate {
        /// Line of the second one.
        line: u32,
        /// The name.
        name: String,
    },
    /// The device had no room for a variable.
    #[error("PTX line {line}: no room for variable {name} of {size} bytes at its alignment")]
    NoRoom {
        /// Line of the declaration.
        line: u32,
        /// The name.
        name: String,
        /// Its size.
        size: u64,
    },
    /// A kernel with larger parameters than PTX allows.
    #[error("PTX line {line}: the parameters of {name} are larger than {limit} bytes")]
    Params {
        /// Line of the kernel.
        line: u32,
        /// The kernel.
        name: String,
        /// The most that this version of PTX allows for this target, in bytes.
        limit: u64,
    },
    /// An initialiser that does not fit its variable or names an unknown symbol.
    #[error("PTX line {line}: bad initialiser of {name}: {reason}")]
    Initialiser {
        /// Line of the declaration.
        line: u32,
        /// The variable.
        name: String,
        /// What is wrong.
        reason: &'static str,
    },
}

/// Most bytes of initial data of one variable.
const MAX_INIT: u64 = 1 << 30;

/// The initial bytes of a variable; `address` finds symbols.
pub(crate) fn initial_bytes(
    var: &Var<'_>,
    init: &Init<'_>,
    address: &dyn Fn(&str) -> Option<u64>,
) -> Result<Vec<u8>, &'static str> {
    let size = var.size().ok_or("the size is out of range")?;
    if size > MAX_INIT {
        return Err("it is larger than 1 GiB");
    }
    let mut dims: Vec<u64> = Vec::new();
    for dim in &var.dims {
        let open = match init {
            Init::List(list) => list.len() as u64,
            _ => 0,
        };
        dims.push(dim.unwrap_or(open));
    }
    if var.vector > 1 {
        dims.push(u64::from(var.vector));
    }
    // Only what the list mentions is written; the rest is zero.
    let mut bytes = vec![0; size as usize];
    write(init, &dims, var.ty, address, &mut bytes)?;
    Ok(bytes)
}

fn write(
    init: &Init<'_>,
    dims: &[u64],
    ty: ScalarType,
    address: &dyn Fn(&str) -> Option<u64>,
    out: &mut [u8],
) -> Result<(), &'static str> {
    let Init::List(list) = init else {
        let value = scalar(init, ty, address)?;
        let size = ty.size() as usize;
        let room = out
            .get_mut(..size)
            .ok_or("there is no room for the value")?;
        room.copy_from_slice(&value.to_le_bytes()[..size]);
        return Ok(());
    };
    let Some((count, inner)) = dims.split_first() else {
        // Braces around a scalar.
        return match &list[..] {
            [one] => write(one, dims, ty, address, out),
            _ => Err("there are too many braces"),
        };
    };
    let nested = list.iter().any(|i| matches!(i, Init::List(_)));
    // A flat list fills a nested array in order.
    let stride = if nested || inner.is_empty() {
        // Of a variable without elements, the other dimensions can be anything.
        let element = u64::from(ty.size());
        inner.iter().fold(element, |all, n| all.saturating_mul(*n))
    } else {
        u64::from(ty.size())
    };
    let most = if nested {
        *count
    } else {
        out.len() as u64 / stride.max(1)
    };
    if list.len() as u64 > most {
        return Err("there are too many values");
    }
    let inner = if nested { inner } else { &[] };
    for (item, part) in list.iter().zip(out.chunks_mut(stride.max(1) as usize)) {
        write(item, inner, ty, address, part)?;
    }
    Ok(())
}

/// What kind of value a type holds, as far as initialisers care.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    /// Any bits of so many bytes.
    Bits(u32),
    Float,
    Double,
    /// What PTX gives no initial values to.
    Other,
}

fn kind(ty: ScalarType) -> Kind {
    use ScalarType as T;
    match ty {
        T::U8 | T::S8 | T::U16 | T::S16 | T::U32 | T::S32 | T::U64 | T::S64 => Kind::Integer,
        T::B8 | T::B16 | T::B32 | T::B64 => Kind::Bits(ty.size()),
        T::F32 => Kind::Float,
        T::F64 => Kind::Double,
        _ => Kind::Other,
    }
}

/// The value of one element. Numbers stay of their kind; a float gives its bits to untyped
/// memory that has room for them (all seen on an H200). An address needs 64 bits, or a mask.
fn scalar(
    init: &Init<'_>,
    ty: ScalarType,
    address: &dyn Fn(&str) -> Option<u64>,
) -> Result<u128, &'static str> {
    const KIND: &str = "a float for a variable of another kind";
    let kind = kind(ty);
    let holds_numbers = matches!(kind, Kind::Integer | Kind::Bits(_));
    Ok(match (init, kind) {
        (Init::List(_), _) => return Err("there are too many braces"),
        // PTX ISA, initialisers: all types but these.
        (_, Kind::Other) => return Err("variables of this type have no initial values"),
        (Init::Int(_), Kind::Float | Kind::Double) => return Err("an integer for a float"),
        (Init::Int(v), _) => u128::from(*v),
        (Init::F32(v), Kind::Double) => u128::from(f64::from(f32::from_bits(*v)).to_bits()),
        (Init::F32(v), Kind::Float | Kind::Bits(4 | 8)) => u128::from(*v),
        (Init::F64(v), Kind::Float | Kind::Bits(4)) => {
            u128::from((f64::from_bits(*v) as f32).to_bits())
        }
        (Init::F64(v), Kind::Double | Kind::Bits(8)) => u128::from(*v),
        (Init::F32(_) | Init::F64(_), _) => return Err(KIND),
        (Init::Symbol { .. } | Init::Masked { .. }, _) if !holds_numbers => {
            return Err("an address for a variable that holds no integer");
        }
        (Init::Symbol { .. }, _) if ty.size() < 8 => {
            return Err("an address without a mask for a variable of less than 64 bits");
        }
        (Init::Symbol { name, offset, .. }, _) => {
            let base = address(name).ok_or("it names an unknown symbol")?;
            u128::from(base.wrapping_add(offset.cast_unsigned()))
        }
        (Init::Masked { mask, of }, _) => {
            let value = scalar(of, ScalarType::U64, address)? as u64;
            let shift = mask.trailing_zeros().min(63);
            u128::from((value & mask) >> shift)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::Module;

    fn bytes(text: &str) -> Result<Vec<u8>, &'static str> {
        let text = format!(".version 7.0\n.target sm_60\n.address_size 64\n{text}");
        let module = Module::parse(&text).unwrap();
        let var = &module.vars[0];
        initial_bytes(var, var.init.as_ref().unwrap(), &|_| {
            Some(0x1122_3344_5566_7788)
        })
    }

    /// Without it, a value of the wrong kind would become other bits without a word.
    #[test]
    fn values_are_of_the_kind_of_their_variable() {
        let one = 1f32.to_le_bytes();
        for text in [
            ".global .b32 v = 1.0;",
            ".global .f32 v = 1.0;",
            ".global .b32 v = 0f3F800000;",
        ] {
            assert_eq!(bytes(text).unwrap(), one, "{text}");
        }
        assert_eq!(
            bytes(".global .f64 v = 0f3F800000;").unwrap(),
            1f64.to_le_bytes()
        );
        assert_eq!(bytes(".global .b64 v = 1.0;").unwrap(), 1f64.to_le_bytes());
        let address = 0x1122_3344_5566_7788_u64.to_le_bytes();
        assert_eq!(bytes(".global .u64 v = other;").unwrap(), address);
        assert_eq!(bytes(".global .b8 v = 0xFF00(other);").unwrap(), [0x77]);
        for wrong in [
            ".global .u32 v = 1.0;",
            ".global .s64 v = 1.0;",
            ".global .b16 v = 1.0;",
            ".global .f32 v = 1;",
            ".global .f64 v = 1;",
            ".global .f16 v = 1.0;",
            ".global .f16x2 v = 1;",
            ".global .u32 v = other;",
            ".global .u8 v[2] = {1, other};",
            ".global .f64 v = other;",
        ] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
