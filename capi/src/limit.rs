//! The limit of a device's pool, where no call has set one.

use cupola_core::parse_bytes;

use crate::error::Failure;

/// Limits each device's pool: bytes, with a unit if wanted (`8GiB`), or a part of the device's memory
/// (`90%`).
pub(crate) const VARIABLE: &str = "CUPOLA_LIMIT";

/// Left to others by default, as far as that is no more than a sixteenth of the device: the driver's own
/// needs, other libraries' workspaces, and the code of kernels.
const RESERVE: u64 = 1 << 30;

/// The limit of a device with so many bytes.
pub(crate) fn of_device(total: u64) -> Result<u64, Failure> {
    match std::env::var(VARIABLE) {
        Ok(text) if !text.trim().is_empty() => parse(&text, total),
        _ => Ok(total - RESERVE.min(total / 16)),
    }
}

/// The limit that a text means.
fn parse(text: &str, total: u64) -> Result<u64, Failure> {
    let Some(percent) = text.trim().strip_suffix('%') else {
        let problem = |problem| Failure::LimitVariable {
            text: text.to_owned(),
            problem,
        };
        return parse_bytes(text).map_err(problem);
    };
    let percent = percent.trim().parse::<f64>().ok();
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    let percent = percent.ok_or_else(|| Failure::LimitPercentage {
        text: text.to_owned(),
    })?;
    Ok(part(percent / 100.0, total))
}

/// A part of so many bytes.
pub(crate) fn part(fraction: f64, total: u64) -> u64 {
    // An exact number of bytes does not matter here, and no product exceeds the total by more than one.
    ((total as f64 * fraction) as u64).min(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it a limit could be taken for another one, and a program meet its end by it.
    #[test]
    fn a_limit_is_bytes_with_a_unit_or_a_percentage() {
        let of = |text| parse(text, 1000).unwrap();
        assert_eq!(
            (of("512"), of(" 8GiB "), of("1.5 Ki")),
            (512, 8 << 30, 1536)
        );
        assert_eq!((of("50%"), of("100 %"), of("0%")), (500, 1000, 0));
        for wrong in ["", "%", "-1%", "101%", "nan%", "8 apples", "lots"] {
            let refused = parse(wrong, 1000).unwrap_err().to_string();
            assert!(refused.contains("CUPOLA_LIMIT"), "{wrong}: {refused}");
        }
    }

    // Without it a part of the memory could be more than all of it.
    #[test]
    fn a_percentage_is_within_the_device() {
        fn property(percent: u8, total: u64) -> bool {
            let percent = percent % 101;
            let limit = parse(&format!("{percent}%"), total).unwrap();
            let exact = u128::from(total) * u128::from(percent) / 100;
            limit <= total && u128::from(limit).abs_diff(exact) <= 1 + exact / (1 << 50)
        }
        quickcheck::quickcheck(property as fn(u8, u64) -> bool);
    }
}
