//! `cupola completions` and `cupola man`: made from the command line's own description.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::args::Cli;
use super::exit::{Exit, Failure};
use super::output::say_bytes;

/// What makes `shell` complete this command line.
pub(super) fn completions(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cupola", &mut script);
    say_bytes(&script)?;
    Ok(Exit::Done)
}

/// The manual page of the command with these words, or of the program.
pub(super) fn page(words: &[String]) -> Result<Exit, Failure> {
    let mut command = Cli::command();
    // Gives subcommands their whole names.
    command.build();
    for word in words {
        let found = command.find_subcommand(word).cloned();
        command = found.ok_or_else(|| {
            let problem = format!("there is no command `cupola {}`", words.join(" "));
            Failure::new(Exit::Usage, problem)
        })?;
    }
    let name = command.get_display_name().unwrap_or(command.get_name());
    let name = name.to_owned();
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(command).title(name).render(&mut text);
    rendered.map_err(|error| Failure::file("the page".as_ref(), error))?;
    say_bytes(&text)?;
    Ok(Exit::Done)
}
