//! The architecture that `.target` names.

use super::ast::Module;

/// `sm_90a`: a number, and for which devices of it the code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The `sm_` number: ten times the major compute capability, and the minor.
    pub number: u32,
    /// Which devices run it.
    pub reach: Reach,
}

/// Which devices run code for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// This one and all later ones.
    Later,
    /// `f`: this one, and later ones of its family: those with its major number.
    Family,
    /// `a`: this one alone.
    Exact,
}

impl Target {
    /// Reads `sm_80`, `sm_90a` or `sm_100f`; `None` for any other word.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let rest = name.strip_prefix("sm_")?;
        let (digits, reach) = match rest.strip_suffix('a') {
            Some(digits) => (digits, Reach::Exact),
            None => match rest.strip_suffix('f') {
                Some(digits) => (digits, Reach::Family),
                None => (rest, Reach::Later),
            },
        };
        let number = digits.parse().ok()?;
        Some(Self { number, reach })
    }

    /// Whether a device with this compute capability runs the code.
    #[must_use]
    pub fn runs_on(self, (major, minor): (u32, u32)) -> bool {
        let device = major * 10 + minor;
        match self.reach {
            Reach::Later => self.number <= device,
            Reach::Family => self.number <= device && self.number / 10 == major,
            Reach::Exact => self.number == device,
        }
    }
}

impl Module<'_> {
    /// The architecture among the words of `.target`.
    #[must_use]
    pub fn architecture(&self) -> Option<Target> {
        self.target.iter().find_map(|name| Target::parse(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it, code for one architecture alone would run on those that lack what it
    /// uses, or a target without a letter would not run on later ones.
    #[test]
    fn a_letter_narrows_a_target() {
        let runs = |name, on| Target::parse(name).unwrap().runs_on(on);
        assert!(runs("sm_60", (6, 0)) && runs("sm_60", (9, 0)) && !runs("sm_90", (8, 9)));
        assert!(runs("sm_90a", (9, 0)) && !runs("sm_90a", (10, 0)) && !runs("sm_90a", (8, 0)));
        assert!(runs("sm_100f", (10, 0)) && runs("sm_100f", (10, 3)));
        assert!(!runs("sm_100f", (12, 0)) && !runs("sm_103f", (10, 0)));
        assert_eq!(Target::parse("texmode_unified"), None);
        assert_eq!(Target::parse("sm_"), None);
    }
}
