//! `--device` before a command means what it means after it.

use std::ffi::OsString;

use clap::Command;

/// The name of the option, which commands with a device have.
const OPTION: &str = "--device";

/// Moves `--device` from before the command to behind its name. A command without a device then
/// refuses it, in words of its own. Without a command nothing moves.
pub(super) fn device_after_command(
    root: &Command,
    words: impl IntoIterator<Item = OsString>,
) -> Vec<OsString> {
    let mut words: Vec<_> = words.into_iter().collect();
    let start = 1.min(words.len());
    let mut end = start;
    while let Some(word) = words.get(end).and_then(|word| word.to_str()) {
        if word == OPTION {
            end += 2;
        } else if word.starts_with(OPTION) && word[OPTION.len()..].starts_with('=') {
            end += 1;
        } else {
            break;
        }
    }
    // The option's value may be missing: clap says so.
    if end == start || end > words.len() {
        return words;
    }
    let mut command = root;
    let mut last = end;
    while let Some(found) = words
        .get(last)
        .and_then(|word| command.find_subcommand(word))
    {
        command = found;
        last += 1;
    }
    words[start..last].rotate_left(end - start);
    words
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::commands::args::{Cli, Command, DeviceChoice};
    use crate::commands::bench::args::Suite;

    fn parse(words: &[&str]) -> Result<Cli, clap::Error> {
        let words = words.iter().map(OsString::from);
        Cli::try_parse_from(device_after_command(&Cli::command(), words))
    }

    /// Without it the option would be refused where a user of git or docker writes it, or be lost.
    #[test]
    fn a_device_is_taken_before_and_after_a_command() {
        for words in [
            &["cupola", "--device", "sim", "run", "x"][..],
            &["cupola", "--device=sim", "run", "x"],
            &["cupola", "run", "--device", "sim", "x"],
        ] {
            let Some(Command::Run(args)) = parse(words).unwrap().command else {
                panic!("{words:?}");
            };
            assert_eq!(args.options.device.device, DeviceChoice::Sim, "{words:?}");
            assert_eq!(args.file, Some("x".into()), "{words:?}");
        }
        let bench = parse(&["cupola", "--device", "gpu", "bench", "alloc", "--quick"]).unwrap();
        let Some(Command::Bench {
            suite: Suite::Alloc(alloc),
        }) = bench.command
        else {
            panic!("no bench");
        };
        assert_eq!(alloc.device.device, DeviceChoice::Gpu);
        let alone = parse(&["cupola", "--device", "sim"]).unwrap();
        assert_eq!(alone.run.device.device, DeviceChoice::Sim);
    }

    /// Without it a device could be silently ignored.
    #[test]
    fn a_command_without_a_device_refuses_one() {
        for words in [
            &["cupola", "--device", "sim", "doctor"][..],
            &["cupola", "--device", "sim", "bench", "slots"],
            &["cupola", "--device", "sim", "--device", "gpu", "run"],
            &["cupola", "--device"],
            &["cupola", "--devices", "sim", "run"],
        ] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
