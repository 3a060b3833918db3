//! Arguments of NVRTC as the options that they are.

use std::ffi::OsStr;

use super::{CompileOption, CppStandard, DiagnosticRule, FastCompile, Switch};

impl CompileOption {
    /// The option whose [`argument`](Self::argument) this is; `None` for one that has no variant, or is
    /// written in another way.
    #[must_use]
    pub fn parse(argument: &OsStr) -> Option<Self> {
        let text = argument.to_str()?;
        let option = match text.split_once('=') {
            Some((name, value)) => Self::with_value(name, value),
            None => Self::without_value(text),
        };
        // The way back must lead here.
        option.filter(|option| option.argument() == argument)
    }

    fn without_value(name: &str) -> Option<Self> {
        Some(match name {
            "--no-source-include" => Self::NoSourceInclude,
            "--use_fast_math" => Self::FastMath,
            "--extra-device-vectorization" => Self::ExtraVectorization,
            "--restrict" => Self::Restrict,
            "--generate-line-info" => Self::LineInfo,
            "--device-debug" => Self::Debug,
            "--extensible-whole-program" => Self::ExtensibleWholeProgram,
            "--gen-opt-lto" => Self::GenerateLto,
            "--device-as-default-execution-space" => Self::DefaultDevice,
            "--device-int128" => Self::Int128,
            "--device-float128" => Self::Float128,
            "--minimal" => Self::Minimal,
            "--disable-warnings" => Self::NoWarnings,
            "--no-display-error-number" => Self::NoDiagnosticNumbers,
            "--no-cache" => Self::NoDriverCache,
            "--pch" => Self::Pch,
            _ => return None,
        })
    }

    fn with_value(name: &str, value: &str) -> Option<Self> {
        Some(match name {
            "--std" => Self::Standard(CppStandard::parse(value)?),
            "--define-macro" => {
                let (name, value) = match value.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (value, None),
                };
                let name = name.to_owned();
                Self::Define { name, value }
            }
            "--undefine-macro" => Self::Undefine(value.to_owned()),
            "--pre-include" => Self::PreInclude(value.into()),
            "--fmad" => Self::FusedMultiplyAdd(Switch::parse(value)?),
            "--ftz" => Self::FlushToZero(Switch::parse(value)?),
            "--prec-div" => Self::PreciseDivision(Switch::parse(value)?),
            "--prec-sqrt" => Self::PreciseRoot(Switch::parse(value)?),
            "--dopt" => Self::OptimizeDebug,
            "--maxrregcount" => Self::MaxRegisters(value.parse().ok()?),
            "--relocatable-device-code" => Self::Relocatable(Switch::parse(value)?),
            "--ptxas-options" => Self::Ptxas(value.to_owned()),
            "--split-compile" => Self::SplitCompile(value.parse().ok()?),
            "--Ofast-compile" => Self::FastCompile(match value {
                "0" => FastCompile::Off,
                "min" => FastCompile::Min,
                "mid" => FastCompile::Mid,
                "max" => FastCompile::Max,
                _ => return None,
            }),
            "--device-stack-protector" => Self::StackProtector,
            "--warning-as-error" => Self::WarningsAreErrors,
            "--diag-suppress" => Self::diagnostic(DiagnosticRule::Suppress, value)?,
            "--diag-warn" => Self::diagnostic(DiagnosticRule::Warn, value)?,
            "--diag-error" => Self::diagnostic(DiagnosticRule::Fail, value)?,
            "--brief-diagnostics" => Self::BriefDiagnostics,
            "--optimization-info" => Self::InlineInfo,
            "--time" => Self::Time,
            "--fdevice-time-trace" => Self::TimeTrace(value.into()),
            "--frandom-seed" => Self::RandomSeed(value.to_owned()),
            "--pch-dir" => Self::PchFolder(value.into()),
            "--create-pch" => Self::CreatePch(value.into()),
            "--use-pch" => Self::UsePch(value.into()),
            "--pch-verbose" => Self::PchVerbose,
            "--instantiate-templates-in-pch" => Self::PchTemplates(Switch::parse(value)?),
            "--use-bundled-headers" => Self::BundledHeaders(value.into()),
            _ => return None,
        })
    }

    fn diagnostic(rule: DiagnosticRule, number: &str) -> Option<Self> {
        let number = number.parse().ok()?;
        Some(Self::Diagnostic { rule, number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it an option could be read as another one, and a kept result be compared with what that makes.
    #[test]
    fn every_option_is_read_back_as_itself() {
        use CompileOption as O;
        let text = || "x".to_owned();
        let mut options = vec![
            O::Define {
                name: text(),
                value: None,
            },
            O::Define {
                name: text(),
                value: Some("a=b".into()),
            },
            O::Undefine(text()),
            O::PreInclude("a.h".into()),
            O::NoSourceInclude,
            O::FastMath,
            O::ExtraVectorization,
            O::Restrict,
            O::LineInfo,
            O::Debug,
            O::OptimizeDebug,
            O::MaxRegisters(32),
            O::ExtensibleWholeProgram,
            O::GenerateLto,
            O::DefaultDevice,
            O::Int128,
            O::Float128,
            O::Minimal,
            O::Ptxas("-v".into()),
            O::SplitCompile(0),
            O::StackProtector,
            O::NoWarnings,
            O::WarningsAreErrors,
            O::NoDiagnosticNumbers,
            O::BriefDiagnostics,
            O::InlineInfo,
            O::Time,
            O::TimeTrace("t".into()),
            O::RandomSeed(text()),
            O::NoDriverCache,
            O::Pch,
            O::PchFolder("f".into()),
            O::CreatePch("f".into()),
            O::UsePch("f".into()),
            O::PchVerbose,
            O::BundledHeaders("f".into()),
        ];
        for switch in [Switch::On, Switch::Off] {
            options.extend([
                O::FusedMultiplyAdd(switch),
                O::FlushToZero(switch),
                O::PreciseDivision(switch),
                O::PreciseRoot(switch),
                O::Relocatable(switch),
                O::PchTemplates(switch),
            ]);
        }
        options.extend(CppStandard::ALL.map(O::Standard));
        use FastCompile as F;
        options.extend([F::Off, F::Min, F::Mid, F::Max].map(O::FastCompile));
        use DiagnosticRule as R;
        options
            .extend([R::Suppress, R::Warn, R::Fail].map(|rule| O::Diagnostic { rule, number: 7 }));
        for option in options {
            assert_eq!(O::parse(&option.argument()).as_ref(), Some(&option));
        }
        for other in [
            "-G",
            "--fmad=maybe",
            "--maxrregcount=many",
            "--pch-verbose=no",
            "",
        ] {
            assert_eq!(O::parse(other.as_ref()), None, "{other}");
        }
    }
}
