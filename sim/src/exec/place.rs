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
    #[error("PTX line {line}: no room for variable {name} of {size} bytes")]
    NoRoom {
        /// Line of the declaration.
        line: u32,
        /// The name.
        name: String,
        /// Its size.
        size: u64,
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

fn scalar(
    init: &Init<'_>,
    ty: ScalarType,
    address: &dyn Fn(&str) -> Option<u64>,
) -> Result<u128, &'static str> {
    Ok(match (init, ty) {
        (Init::Int(v), ScalarType::F32) => u128::from((v.cast_signed() as f32).to_bits()),
        (Init::Int(v), ScalarType::F64) => u128::from((v.cast_signed() as f64).to_bits()),
        (Init::Int(v), _) => u128::from(*v),
        (Init::F32(v), ScalarType::F64) => u128::from(f64::from(f32::from_bits(*v)).to_bits()),
        (Init::F32(v), _) => u128::from(*v),
        (Init::F64(v), ScalarType::F32) => u128::from((f64::from_bits(*v) as f32).to_bits()),
        (Init::F64(v), _) => u128::from(*v),
        (Init::Symbol { name, offset, .. }, _) => {
            let base = address(name).ok_or("it names an unknown symbol")?;
            u128::from(base.wrapping_add(offset.cast_unsigned()))
        }
        (Init::Masked { mask, of }, _) => {
            let value = scalar(of, ScalarType::U64, address)? as u64;
            let shift = mask.trailing_zeros().min(63);
            u128::from((value & mask) >> shift)
        }
        (Init::List(_), _) => return Err("there are too many braces"),
    })
}
