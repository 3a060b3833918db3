//! nvJitLink with what NVRTC makes.

use cupola_kernels::EMBEDDED;
use cupola_kernels::compile::{Compiler, Severity, Target};
use cupola_kernels::link::{
    InputKind, LinkError, LinkInput, LinkOptimization, LinkOption, LinkRequest, Linker, NvJitLinker,
};
use cupola_sys::{ErrorClass, Version};

use super::{available, newest, two_pieces};

fn request(target: Target, pieces: &[cupola_kernels::compile::Compiled]) -> LinkRequest {
    let mut request = LinkRequest::new(target);
    for (n, piece) in pieces.iter().enumerate() {
        request = request.input(LinkInput::of_compiled(format!("piece {n}"), piece));
    }
    request
}

// Without it pieces that are optimised together could not be linked, or a function of the other
// piece stay a call.
#[test]
fn lto_ir_of_two_pieces_becomes_one_binary_or_ptx() {
    let (Some(compiler), Some(linker)) =
        (available(Compiler::load()), available(NvJitLinker::load()))
    else {
        return;
    };
    let newest = newest(&compiler);
    let pieces = two_pieces(&compiler, Target::LtoIr(newest));
    let binary = request(Target::Cubin(newest), &pieces);
    let linked = linker.link(&binary).unwrap();
    assert!(linked.image().starts_with(b"\x7fELF"));
    let worst = linked.diagnostics().iter().map(|one| one.severity).max();
    assert!(worst <= Some(Severity::Note), "{}", linked.log());
    assert_eq!(linker.link(&binary).unwrap(), linked);

    let text = request(Target::Ptx(newest), &pieces);
    let linked = linker.link(&text).unwrap();
    let ptx = String::from_utf8(linked.into_image()).unwrap();
    assert!(
        ptx.contains(".entry _Z5applyPi(") && !ptx.contains("call"),
        "{ptx}"
    );
    assert!(ptx.contains("unused"), "{ptx}");

    let kept = text.with(LinkOption::KernelUsed("_Z5applyPi".into()));
    let linked = linker.link(&kept).unwrap();
    let ptx = String::from_utf8(linked.into_image()).unwrap();
    assert!(ptx.contains("apply") && !ptx.contains("unused"), "{ptx}");
}

// Without it an option could be spelled in a way that the linker refuses.
#[test]
fn the_linker_takes_every_typed_option() {
    let (Some(compiler), Some(linker)) =
        (available(Compiler::load()), available(NvJitLinker::load()))
    else {
        return;
    };
    let newest = newest(&compiler);
    let pieces = two_pieces(&compiler, Target::LtoIr(newest));
    for option in [
        LinkOption::LinkTimeOptimization,
        LinkOption::Optimization(LinkOptimization::None),
        LinkOption::Optimization(LinkOptimization::Full),
        LinkOption::MaxRegisters(32),
        LinkOption::LineInfo,
        LinkOption::Debug,
        LinkOption::Verbose,
        LinkOption::KernelUsed("_Z5applyPi".into()),
        LinkOption::VariableUsed("none".into()),
        LinkOption::DropUnusedVariables,
        LinkOption::SplitCompile(2),
        LinkOption::Ptxas("-v".into()),
        LinkOption::NoCache,
    ] {
        let request = request(Target::Cubin(newest), &pieces).with(option.clone());
        if let Err(error) = linker.link(&request) {
            panic!("{option:?}: {error}");
        }
    }
}

// Without it PTX and relocatable binaries could not be linked.
#[test]
fn ptx_and_binaries_are_linked_too() {
    let (Some(compiler), Some(linker)) =
        (available(Compiler::load()), available(NvJitLinker::load()))
    else {
        return;
    };
    let newest = newest(&compiler);
    for target in [Target::Ptx(newest), Target::Cubin(newest)] {
        let pieces = two_pieces(&compiler, target);
        let linked = linker.link(&request(Target::Cubin(newest), &pieces));
        assert!(linked.unwrap().image().starts_with(b"\x7fELF"), "{target}");
    }
    let file = &EMBEDDED[0];
    let embedded = LinkRequest::new(Target::Cubin(newest)).input(LinkInput::new(
        file.name(),
        InputKind::Ptx,
        file.ptx(),
    ));
    linker.link(&embedded).unwrap();
}

// Without it a wrong input could pass for a wrong program, or its message be lost.
#[test]
fn wrong_inputs_and_options_are_told() {
    let (Some(compiler), Some(linker)) =
        (available(Compiler::load()), available(NvJitLinker::load()))
    else {
        return;
    };
    let newest = newest(&compiler);
    let empty = || LinkRequest::new(Target::Cubin(newest));
    for kind in [InputKind::Cubin, InputKind::LtoIr, InputKind::Fatbin] {
        let wrong = empty().input(LinkInput::new("no code", kind, b"no device code".to_vec()));
        let error = linker.link(&wrong).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, LinkError::Input { .. }), "{error}");
        assert!(text.contains("no code"), "{text}");
    }
    let wrong = empty().input(LinkInput::new(
        "text",
        InputKind::Ptx,
        ".version 7.0\nwrong",
    ));
    let error = linker.link(&wrong).unwrap_err();
    assert!(!error.log().is_empty(), "{error}");

    let [piece, _] = two_pieces(&compiler, Target::Cubin(newest));
    let alone = request(Target::Cubin(newest), &[piece]);
    let error = linker.link(&alone).unwrap_err();
    assert!(error.log().contains("twice"), "{error}");

    let option = empty().with("-no-such-option");
    assert!(matches!(linker.link(&option), Err(LinkError::Link { .. })));
    let nul = empty().with("-\0");
    assert!(matches!(linker.link(&nul), Err(LinkError::Nul { .. })));
}

// Without it LTO-IR that the linker cannot read would fail with a code that says nothing.
#[test]
fn lto_ir_of_a_newer_compiler_is_refused_before_it_is_linked() {
    let (Some(compiler), Some(linker)) =
        (available(Compiler::load()), available(NvJitLinker::load()))
    else {
        return;
    };
    let newest = newest(&compiler);
    let [piece, _] = two_pieces(&compiler, Target::LtoIr(newest));
    let mut input = LinkInput::of_compiled("piece", &piece);
    let have = linker.version().unwrap();
    input.made_by = Some(Version::new(have.major(), have.minor() + 1));
    let newer = LinkRequest::new(Target::Cubin(newest)).input(input);
    let error = linker.link(&newer).unwrap_err();
    assert!(matches!(error, LinkError::TooOld { .. }), "{error}");
    assert_eq!(error.class(), ErrorClass::Environment);
}
