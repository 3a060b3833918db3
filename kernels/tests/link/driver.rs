//! The driver's linker on the software device or a GPU, and the order of the two.

use cupola_kernels::compile::{Target, TargetArchitecture};
use cupola_kernels::link::{
    DriverLinker, InputKind, LinkError, LinkInput, LinkOption, LinkRequest, Linked, Linker,
    LinkerIdentity, Linkers,
};
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pool::PoolConfig;
use cupola_managers::{Context, Device, Error, ExecutionManager};

use super::target::driver;

const KERNEL: &str = "\
.version 7.0
.target sm_60
.address_size 64
.extern .func (.param .b32 out) twice (.param .b32 in);
.visible .entry apply(.param .u64 p) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd0, [p];
    cvta.to.global.u64 %rd1, %rd0;
    ld.global.u32 %r0, [%rd1];
    {
    .param .b32 in;
    .param .b32 out;
    st.param.b32 [in], %r0;
    call.uni (out), twice, (in);
    ld.param.b32 %r1, [out];
    }
    st.global.u32 [%rd1], %r1;
    ret;
}
";

const TWICE: &str = "\
.version 7.0
.target sm_60
.address_size 64
.visible .func (.param .b32 out) twice (.param .b32 in) {
    .reg .b32 %r<2>;
    ld.param.b32 %r0, [in];
    add.u32 %r1, %r0, %r0;
    st.param.b32 [out], %r1;
    ret;
}
";

fn device() -> (ExecutionManager, Device, Context) {
    let execution = ExecutionManager::new(driver()).unwrap();
    let device = execution.devices().get(0).unwrap();
    let context = device.primary().unwrap();
    (execution, device, context)
}

fn target(device: &Device) -> Target {
    Target::Cubin(device.info().unwrap().architecture().into())
}

fn ptx(name: &str, text: &str) -> LinkInput {
    LinkInput::new(name, InputKind::Ptx, text)
}

// Without it the driver could be given pieces in another form than it takes, or the linked code be
// gone with the link.
#[test]
fn two_pieces_in_ptx_run_as_one() {
    let (_execution, device, context) = device();
    let linker = DriverLinker::new(&context, &device).unwrap();
    let request = LinkRequest::new(target(&device))
        .input(ptx("kernel", KERNEL))
        .input(ptx("twice", TWICE))
        .with(LinkOption::LineInfo);
    let linked = linker.link(&request).unwrap();
    assert_eq!(linked.target(), target(&device));
    // SAFETY: a whole image, as the driver made it.
    let module = unsafe { context.modules().load_binary(linked.image()) }.unwrap();
    let apply = module.function("apply").unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut value = pool.upload(&[21_u32], &stream).unwrap();
    // SAFETY: the kernel reads and writes one word.
    unsafe { ops::launch(&apply, LaunchConfig::linear(1, 1), (&mut value,), &stream) }.unwrap();
    assert_eq!(value.to_vec(&stream).unwrap(), [42]);
}

// Without it a wrong piece could be told without the linker's words, or the link be left open.
#[test]
fn wrong_pieces_have_the_drivers_words() {
    let (_execution, device, context) = device();
    let linker = DriverLinker::new(&context, &device).unwrap();
    let wrong = LinkRequest::new(target(&device)).input(ptx("wrong", ".version 7.0\nno"));
    let error = linker.link(&wrong).unwrap_err();
    assert!(
        matches!(error, LinkError::Driver(Error::Load { .. })),
        "{error}"
    );
    assert!(!error.log().is_empty(), "{error}");
    let alone = LinkRequest::new(target(&device)).input(ptx("kernel", KERNEL));
    let error = linker.link(&alone).unwrap_err();
    assert!(error.log().contains("twice"), "{error}");
    let nul = LinkRequest::new(target(&device)).input(ptx("nul", "a\0b"));
    assert!(matches!(
        linker.link(&nul),
        Err(LinkError::Driver(Error::Invalid { field: "ptx", .. }))
    ));
}

// Without it the driver could be asked for what it does not do.
#[test]
fn what_the_driver_cannot_do_is_said_before() {
    let (_execution, device, context) = device();
    let linker = DriverLinker::new(&context, &device).unwrap();
    let Target::Cubin(own) = target(&device) else {
        unreachable!()
    };
    let other = TargetArchitecture::from_number(own.number() + 1);
    let lto = LinkInput::new("lto", InputKind::LtoIr, "");
    for (request, what) in [
        (LinkRequest::new(Target::Cubin(other)), "link for"),
        (LinkRequest::new(Target::Ptx(own)), "make PTX"),
        (LinkRequest::new(Target::Cubin(own)).input(lto), "\"lto\""),
        (
            LinkRequest::new(Target::Cubin(own)).with("-any"),
            "option -any",
        ),
    ] {
        let error = linker.link(&request).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, LinkError::Unsupported { .. }), "{text}");
        assert!(text.contains(what), "{text}");
    }
}

/// A linker that takes nothing, or everything and fails.
#[derive(Debug)]
struct Fixed {
    accepts: bool,
}

impl Linker for Fixed {
    fn name(&self) -> &'static str {
        "a fixed linker"
    }

    fn accepts(&self, _: &LinkRequest) -> Result<(), LinkError> {
        match self.accepts {
            true => Ok(()),
            false => Err(LinkError::Unsupported {
                linker: self.name(),
                what: "do anything".to_owned(),
            }),
        }
    }

    fn identity(&self, request: &LinkRequest) -> Result<LinkerIdentity, LinkError> {
        self.accepts(request)?;
        Ok(LinkerIdentity {
            name: self.name().to_owned(),
            library: None,
        })
    }

    fn link(&self, _: &LinkRequest) -> Result<Linked, LinkError> {
        Err(LinkError::Nul {
            what: "chosen".to_owned(),
        })
    }
}

// Without it the fallback could hide the message of the linker that was to do it, or not be taken.
#[test]
fn the_first_that_can_does_it_and_no_other() {
    let (_execution, device, context) = device();
    let driver = DriverLinker::new(&context, &device).unwrap();
    let request = LinkRequest::new(target(&device))
        .input(ptx("kernel", KERNEL))
        .input(ptx("twice", TWICE));
    let linkers = |accepts| {
        Linkers::default()
            .then(Fixed { accepts })
            .then(driver.clone())
    };
    let failed = linkers(true).link(&request).unwrap_err();
    assert!(matches!(failed, LinkError::Nul { .. }), "{failed}");
    linkers(false).link(&request).unwrap();
    let neither = linkers(false).link(&request.with("-any")).unwrap_err();
    let text = neither.to_string();
    assert!(matches!(neither, LinkError::NoLinker { .. }), "{text}");
    assert!(
        text.contains("do anything") && text.contains("-any"),
        "{text}"
    );
}
