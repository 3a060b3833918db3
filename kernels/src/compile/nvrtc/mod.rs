//! [`NvrtcCompiler`]: NVRTC, and one compile from its request to its result.

mod pch;
mod program;

use core::ffi::c_int;
use std::ffi::{CString, OsString};
use std::path::Path;

use cupola_sys::nvrtc::{Nvrtc, NvrtcError, nvrtcResult};
use cupola_sys::{LoadError, Version};

use super::{
    Cancellation, CompileError, CompileRequest, Compiled, CompilerCall, CompilerVersion,
    Dependencies, LoweredName, TargetArchitecture,
};
use pch::{After, lock_heap, look};
use program::{Header, Program};

pub use pch::PchOutcome;

/// NVRTC, the compiler. Cheap to clone, and shared by threads.
#[derive(Clone, Debug)]
pub struct NvrtcCompiler {
    library: Nvrtc,
    version: Version,
}

/// A request as NVRTC takes it.
struct Texts {
    source: CString,
    name: CString,
    headers: Vec<Header>,
    arguments: Vec<CString>,
    expressions: Vec<CString>,
}

/// What one program gave.
struct Made {
    image: Vec<u8>,
    log: String,
    lowered_names: Vec<LoweredName>,
    pch: Option<After>,
}

/// Names NVRTC of this version in keys.
pub(super) fn identity(version: Version) -> String {
    format!("nvrtc {version}")
}

impl NvrtcCompiler {
    /// Loads NVRTC from where [`Nvrtc::load`] looks.
    ///
    /// # Errors
    /// [`CompileError::NotFound`] says what was tried and how to get it; [`CompileError::Call`] when
    /// it does not tell its version.
    pub fn load() -> Result<Self, CompileError> {
        Self::loaded(Nvrtc::load())
    }

    /// Loads the NVRTC at `path`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_from(path: &Path) -> Result<Self, CompileError> {
        Self::loaded(Nvrtc::load_from(path))
    }

    fn loaded(found: Result<Nvrtc, LoadError>) -> Result<Self, CompileError> {
        Self::over(found.map_err(|error| CompileError::NotFound(error.into()))?)
    }

    /// The compiler of a library that is loaded (`nvrtcVersion`).
    ///
    /// # Errors
    /// [`CompileError::Call`] when it does not tell its version.
    pub fn over(nvrtc: Nvrtc) -> Result<Self, CompileError> {
        let version = nvrtc
            .version()
            .map_err(|call| CompileError::of_call(call, "a compiler"))?;
        Ok(Self {
            library: nvrtc,
            version,
        })
    }

    /// The version of CUDA that it belongs to.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The library: its file and that of its built-in headers are what a result depends on besides
    /// the request and its [`Dependencies`].
    #[must_use]
    pub fn library(&self) -> &Nvrtc {
        &self.library
    }

    /// The architectures that it makes code for, without those of their features
    /// (`nvrtcGetSupportedArchs`).
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] by NVRTC before CUDA 11.2; what the call returned.
    #[doc(alias = "nvrtcGetSupportedArchs")]
    pub fn architectures(&self) -> Result<Vec<TargetArchitecture>, CompileError> {
        let failed = |call| CompileError::of_call(call, "a list of architectures");
        let mut count: c_int = 0;
        // SAFETY: `count` outlives the call.
        unsafe { self.library.nvrtcGetNumSupportedArchs(&raw mut count) }.map_err(failed)?;
        let mut numbers: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the array has as many elements as NVRTC said it writes.
        unsafe { self.library.nvrtcGetSupportedArchs(numbers.as_mut_ptr()) }.map_err(failed)?;
        Ok(numbers
            .into_iter()
            .filter_map(|number| u32::try_from(number).ok())
            .map(TargetArchitecture::from_number)
            .collect())
    }

    /// Compiles a request, whose files were looked for just now, until another thread cancels it
    /// (`nvrtcSetFlowCallback`).
    pub(super) fn compile_scanned(
        &self,
        request: &CompileRequest,
        dependencies: Dependencies,
        cancellation: &Cancellation,
    ) -> Result<Compiled, CompileError> {
        let texts = Texts::of(request)?;
        let unless_cancelled = || match cancellation.is_cancelled() {
            true => Err(CompileError::Cancelled),
            false => Ok(()),
        };
        unless_cancelled()?;
        let _heap = request.wants_pch().then(lock_heap);
        let mut made = self.make(request, &texts, cancellation)?;
        let mut raised = None;
        if let Some(After::Again(bytes)) = made.pch {
            raised = Some(bytes);
            made = self.make(request, &texts, cancellation)?;
        }
        // Without the callback nothing has stopped it.
        unless_cancelled()?;
        Ok(Compiled {
            target: request.target(),
            compiler: CompilerVersion::Nvrtc(self.version),
            image: made.image,
            log: made.log,
            lowered_names: made.lowered_names,
            dependencies,
            pch: made.pch.map(|after| outcome(after, raised)),
        })
    }

    /// One program from its creation to its end.
    fn make(
        &self,
        request: &CompileRequest,
        texts: &Texts,
        cancellation: &Cancellation,
    ) -> Result<Made, CompileError> {
        let failed = |call| CompileError::of_call(call, "a compile");
        let program = Program::new(&self.library, &texts.source, &texts.name, &texts.headers)
            .map_err(failed)?;
        for expression in &texts.expressions {
            program
                .add_name(expression)
                .map_err(|call| unnamed(expression, call))?;
        }
        match program.stop_by(cancellation.flag()) {
            // It compiles to the end, and the result is dropped.
            Ok(()) | Err(NvrtcError::Missing { .. }) => {}
            Err(call) => return Err(failed(call)),
        }
        let compiled = program.compile(&texts.arguments);
        let log = program.log();
        if let Err(call) = compiled {
            return Err(self.refused(request, call, log.unwrap_or_default()));
        }
        let log = log.map_err(failed)?;
        let image = program.image(request.target());
        let image = image.map_err(|call| {
            let what = "device code of this kind";
            match CompileError::of_call(call, what) {
                CompileError::Call { call, .. } => CompileError::Call {
                    call,
                    log: log.clone(),
                },
                other => other,
            }
        })?;
        let lowered = |(expression, text): (&String, &CString)| {
            let symbol = program
                .lowered_name(text)
                .map_err(|call| unnamed(text, call))?;
            Ok(LoweredName {
                expression: expression.clone(),
                symbol,
            })
        };
        let names = request.name_expressions().iter().zip(&texts.expressions);
        let lowered_names = names.map(lowered).collect::<Result<_, CompileError>>()?;
        let pch = match request.wants_pch() {
            true => Some(look(&self.library, &program)?),
            false => None,
        };
        Ok(Made {
            image,
            log,
            lowered_names,
            pch,
        })
    }

    /// The error of a compile that failed.
    fn refused(&self, request: &CompileRequest, call: NvrtcError, log: String) -> CompileError {
        match call.status() {
            Some(nvrtcResult::NVRTC_ERROR_BUILTIN_OPERATION_FAILURE) => CompileError::Builtins {
                call,
                library: self.library.path(),
                builtins: self.library.builtins(),
            },
            Some(nvrtcResult::NVRTC_ERROR_INVALID_OPTION) => {
                let wanted = request.target().architecture();
                let plain = TargetArchitecture::new(wanted.architecture());
                match self.architectures() {
                    Ok(supported) if !supported.contains(&plain) => CompileError::Architecture {
                        wanted,
                        supported,
                        have: CompilerVersion::Nvrtc(self.version),
                    },
                    _ => CompileError::of_compile(call, log),
                }
            }
            _ => CompileError::of_compile(call, log),
        }
    }
}

impl Texts {
    fn of(request: &CompileRequest) -> Result<Self, CompileError> {
        let source = request.source();
        let headers = request.headers().iter().map(|header| {
            Ok(Header {
                name: text(&header.name, || "the name of a header".to_owned())?,
                text: text(&header.text, || format!("header {:?}", header.name))?,
            })
        });
        let argument = |argument: OsString| {
            let shown = argument.to_string_lossy().into_owned();
            CString::new(argument.into_encoded_bytes()).map_err(|_| CompileError::Nul {
                what: format!("option {shown:?}"),
            })
        };
        let names = request.name_expressions().iter();
        Ok(Self {
            source: text(&source.text, || format!("source {:?}", source.name))?,
            name: text(&source.name, || "the name of the source".to_owned())?,
            headers: headers.collect::<Result<_, _>>()?,
            arguments: request
                .arguments()
                .into_iter()
                .map(argument)
                .collect::<Result<_, _>>()?,
            expressions: names
                .map(|name| text(name, || format!("name expression {name:?}")))
                .collect::<Result<_, _>>()?,
        })
    }
}

fn text(text: &str, what: impl FnOnce() -> String) -> Result<CString, CompileError> {
    CString::new(text).map_err(|_| CompileError::Nul { what: what() })
}

fn unnamed(expression: &CString, call: NvrtcError) -> CompileError {
    CompileError::Name {
        expression: expression.to_string_lossy().into_owned(),
        call: CompilerCall::Nvrtc(call),
        log: String::new(),
    }
}

/// What became of the header, after the heap was raised to so many bytes.
fn outcome(after: After, raised: Option<usize>) -> PchOutcome {
    match after {
        After::Done(PchOutcome::Created { .. }) => PchOutcome::Created {
            heap_raised_to: raised,
        },
        After::Done(outcome) => outcome,
        After::Again(_) => PchOutcome::HeapTooSmall,
    }
}
