//! [`DriverLinker`]: the driver of a context as a [`Linker`].

use cupola_managers::device::Architecture;
use cupola_managers::module::{LinkConfig, LinkPiece, PieceKind};
use cupola_managers::{Context, Device};

use super::{
    InputKind, LinkError, LinkInput, LinkOptimization, LinkOption, LinkRequest, Linked, Linker,
    LinkerIdentity,
};
use crate::compile::Target;

/// The linker in the driver, which makes binaries for the device of a context
/// ([`ModuleManager::link`](cupola_managers::module::ModuleManager::link)).
#[derive(Clone)]
pub struct DriverLinker {
    context: Context,
    architecture: Architecture,
}

impl DriverLinker {
    /// The linker in the driver of a context, which is of this device.
    ///
    /// # Errors
    /// [`LinkError::Driver`] when the device cannot be asked.
    pub fn new(context: &Context, device: &Device) -> Result<Self, LinkError> {
        Ok(Self {
            context: context.clone(),
            architecture: device.info()?.architecture(),
        })
    }
}

impl std::fmt::Debug for DriverLinker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DriverLinker")
            .field("context", &self.context.handle())
            .field("architecture", &self.architecture)
            .finish()
    }
}

/// The kind as the driver calls it; none for LTO-IR, which drivers of CUDA 12 and later do not take.
fn piece_kind(kind: InputKind) -> Option<PieceKind> {
    Some(match kind {
        InputKind::Cubin => PieceKind::Cubin,
        InputKind::Ptx => PieceKind::Ptx,
        InputKind::Fatbin => PieceKind::Fatbin,
        InputKind::Object => PieceKind::Object,
        InputKind::Library => PieceKind::Library,
        InputKind::LtoIr => return None,
    })
}

/// A request as the driver takes it.
struct Plan<'r> {
    pieces: Vec<LinkPiece<'r>>,
    config: LinkConfig,
}

impl DriverLinker {
    /// The request as the driver takes it.
    fn plan<'r>(&self, request: &'r LinkRequest) -> Result<Plan<'r>, LinkError> {
        self.check_target(request.target())?;
        let piece = |input: &'r LinkInput| match piece_kind(input.kind) {
            Some(kind) => Ok(LinkPiece {
                name: &input.name,
                kind,
                data: &input.data,
            }),
            None => Err(self.cannot(format!("take {:?}, which is {}", input.name, input.kind))),
        };
        let pieces = request.inputs().iter().map(piece);
        let pieces = pieces.collect::<Result<Vec<_>, _>>()?;
        let mut config = LinkConfig::default();
        for option in request.options() {
            match option {
                LinkOption::Optimization(LinkOptimization::None) => config.optimization = Some(0),
                LinkOption::Optimization(LinkOptimization::Full) => config.optimization = Some(4),
                LinkOption::MaxRegisters(count) => config.max_registers = Some(*count),
                LinkOption::LineInfo => config.line_info = true,
                LinkOption::Debug => config.debug = true,
                LinkOption::Verbose => config.verbose = true,
                other => {
                    return Err(self.cannot(format!("take the option {}", other.argument())));
                }
            }
        }
        Ok(Plan { pieces, config })
    }

    fn check_target(&self, target: Target) -> Result<(), LinkError> {
        let (major, minor) = self.architecture.compute_capability();
        match target {
            Target::Cubin(wanted) if wanted.architecture() == self.architecture => Ok(()),
            Target::Cubin(wanted) => Err(self.cannot(format!(
                "link for {wanted}: it links for its own device, of compute capability \
                 {major}.{minor}"
            ))),
            Target::Ptx(_) | Target::LtoIr(_) => {
                Err(self.cannot(format!("make {}", target.kind())))
            }
        }
    }

    fn cannot(&self, what: String) -> LinkError {
        LinkError::Unsupported {
            linker: self.name(),
            what,
        }
    }
}

impl Linker for DriverLinker {
    fn name(&self) -> &'static str {
        "the driver's linker"
    }

    fn accepts(&self, request: &LinkRequest) -> Result<(), LinkError> {
        self.plan(request).map(|_| ())
    }

    fn identity(&self, request: &LinkRequest) -> Result<LinkerIdentity, LinkError> {
        self.plan(request)?;
        let driver = self.context.driver();
        Ok(LinkerIdentity {
            name: format!("driver {}", driver.driver_version()),
            // A software device within the process has none.
            library: driver.library_path(),
        })
    }

    fn link(&self, request: &LinkRequest) -> Result<Linked, LinkError> {
        let Plan { pieces, config } = self.plan(request)?;
        let linked = self.context.modules().link(&pieces, &config)?;
        Ok(Linked {
            target: request.target(),
            image: linked.image,
            log: linked.log,
        })
    }
}
