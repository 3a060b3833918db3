//! `cupola compile`: CUDA C++ to a binary, PTX or LTO-IR, by NVRTC, or to PTX by clang.

pub(super) mod args;

use std::path::{Path, PathBuf};

use cupola::kernels::compile::{
    CompileError, CompileOption, CompileRequest, Compiled, Compiler, Target, TargetArchitecture,
};
use cupola::sys::ErrorClass;
use cupola::{Cupola, Select};

use super::destination::{Destination, apart};
use super::exit::{Exit, Failure};
use super::input::Input;
use super::output::{bytes, complain, say, say_bytes};
use args::{CompileArgs, CompilerChoice, TargetChoice};

/// The name of standard output.
const STANDARD: &str = "-";

pub(super) fn run(args: &CompileArgs) -> Result<Exit, Failure> {
    let input = Input::new(&args.file);
    let output = output(args)?;
    apart(&[("FILE", input.place())], &[("--output", output.as_ref())])?;
    let source = read(input)?;
    let compiler = match args.compiler {
        CompilerChoice::Nvrtc => Compiler::load(),
        CompilerChoice::Clang => Compiler::find_clang(),
    }?;
    let architecture = match args.arch {
        Some(architecture) => architecture,
        None => of_first_gpu(args.target())?,
    };
    let compiled = compiler.compile(&request(args, input.name(), source, architecture))?;
    // Warnings are not what the command makes.
    complain(compiled.log());
    write(output.as_ref(), &compiled)?;
    Ok(Exit::Done)
}

/// The file to write; `None` for standard output.
fn output(args: &CompileArgs) -> Result<Option<Destination>, Failure> {
    match &args.output {
        Some(path) if path == Path::new(STANDARD) => Ok(None),
        Some(path) => Destination::new(path).map(Some),
        None => {
            let stem = args.file.file_stem().unwrap_or("kernel".as_ref());
            let stem = match args.file == Path::new(STANDARD) {
                true => "kernel".as_ref(),
                false => stem,
            };
            let mut name = PathBuf::from(stem).into_os_string();
            name.push(".");
            name.push(args.target().extension());
            Destination::new(name.as_ref()).map(Some)
        }
    }
}

fn read(input: Input<'_>) -> Result<String, Failure> {
    let mut source = String::new();
    std::io::Read::read_to_string(&mut input.open()?, &mut source)
        .map_err(|error| Failure::file(input.name(), error))?;
    Ok(source)
}

/// The architecture of the first GPU, for a command that was told none.
fn of_first_gpu(target: TargetChoice) -> Result<TargetArchitecture, Failure> {
    let unnamed = |why: String| {
        Failure::new(
            Exit::Usage,
            format!("name an architecture with --arch, such as --arch sm_90: {why}"),
        )
    };
    let cupola = Cupola::open(Select::Gpu).map_err(|error| unnamed(error.to_string()))?;
    let architecture = cupola.device(0)?.info()?.architecture();
    Ok(match target {
        TargetChoice::Cubin => TargetArchitecture::exact(architecture),
        TargetChoice::Ptx | TargetChoice::Ltoir => architecture.into(),
    })
}

fn request(
    args: &CompileArgs,
    name: &Path,
    source: String,
    architecture: TargetArchitecture,
) -> CompileRequest {
    let target = match args.target() {
        TargetChoice::Cubin => Target::Cubin(architecture),
        TargetChoice::Ptx => Target::Ptx(architecture),
        TargetChoice::Ltoir => Target::LtoIr(architecture),
    };
    let mut request = CompileRequest::new(name.to_string_lossy(), source, target);
    for folder in &args.include {
        request = request.include_folder(folder);
    }
    for definition in &args.define {
        let (name, value) = match definition.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (definition.as_str(), None),
        };
        request = request.with(CompileOption::Define {
            name: name.to_owned(),
            value,
        });
    }
    for option in &args.option {
        request = request.with(option.as_str());
    }
    for expression in &args.name_expression {
        request = request.name_expression(expression);
    }
    request
}

/// Writes the code, and says what it is unless that is where the code goes.
fn write(output: Option<&Destination>, compiled: &Compiled) -> Result<(), Failure> {
    let Some(output) = output else {
        return say_bytes(compiled.image());
    };
    output.write(|file| file.write_all(compiled.image()))?;
    let mut text = format!(
        "{}  {}, {}, by {}\n",
        output.path().display(),
        compiled.target(),
        bytes(compiled.image().len() as u64),
        compiled.compiler(),
    );
    for name in compiled.lowered_names() {
        text.push_str(&format!("{}  is {}\n", name.expression, name.symbol));
    }
    say(&text)
}

impl From<CompileError> for Failure {
    fn from(error: CompileError) -> Self {
        let exit = match error.class() {
            ErrorClass::Program => Exit::Wrong,
            ErrorClass::Programmer | ErrorClass::Unsupported => Exit::Usage,
            ErrorClass::Environment => Exit::File,
            ErrorClass::Resource => Exit::Refused,
            _ => Exit::Device,
        };
        Self::new(exit, error.to_string())
    }
}
