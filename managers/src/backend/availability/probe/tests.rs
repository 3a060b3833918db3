//! Every branch of the probe, on folders made for it.

use std::os::unix::fs as unix;

use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::{CUresult, id};

use super::*;

const VERSION: &str =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27\nGCC version:\n";

/// A system with one GPU, on the software device.
struct System {
    folder: tempfile::TempDir,
}

impl System {
    fn new() -> Self {
        let system = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        system.write("proc/driver/nvidia/version", VERSION.as_bytes());
        for name in [
            "nvidiactl",
            "nvidia0",
            "nvidia-uvm",
            "nvidia-caps/nvidia-cap1",
        ] {
            system.write(&format!("dev/{name}"), b"");
        }
        system
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).unwrap();
    }

    /// Nothing of the process that runs the test.
    fn probe(&self) -> Probe {
        Probe::system()
            .roots(self.path("proc"), self.path("dev"))
            .visible(None)
            .named(false)
            .forked(false)
            .permit(|_| Ok(()))
            .with_driver(Machine::builder().build().driver())
    }
}

fn told(found: &Availability) -> String {
    let missing = found.missing.as_ref().expect("something is missing");
    assert!(!missing.advice().is_empty());
    missing.to_string()
}

// Without it a machine with a GPU could be turned away.
#[test]
fn a_system_with_a_gpu_lacks_nothing() {
    let system = System::new();
    let found = system.probe().run();
    assert!(found.is_expected(), "{found:?}");
    assert_eq!(found.kernel_module.to_string(), "nvidia 580.65.06");
    let nodes = [system.path("dev/nvidiactl"), system.path("dev/nvidia0")];
    assert_eq!(found.device_nodes, nodes);
    assert_eq!(found.version, Some(cupola_sys::Version::new(13, 0)));
    assert!(found.library.is_some() && found.driver().is_some());
    for visible in ["0", "1,0", " GPU-3a", "MIG-1", "0,-1"] {
        let probe = system.probe().visible(Some(visible.into()));
        assert!(probe.run().is_expected(), "{visible:?}");
    }
}

// Without it the missing part could go unnamed, or another part be named.
#[test]
fn the_first_thing_that_is_missing_is_named() {
    let system = System::new();
    let no_library = || Driver::load_from(Path::new("/no/such/libcuda.so.1"));
    let all_gone = system.probe().load(no_library).visible(Some("".into()));
    let all_gone = all_gone.roots("/no/such/proc", "/no/such/dev").forked(true);
    assert!(matches!(all_gone.run().missing, Some(Missing::Forked)));
    let found = system.probe().load(no_library).run();
    let text = told(&found);
    assert!(text.contains("/no/such/libcuda.so.1") && found.driver().is_none());
    let text = told(&system.probe().load(no_library).named(true).run());
    assert!(text.starts_with("CUPOLA_CUDA_LIBRARY: "), "{text}");

    let hidden = system.probe().visible(Some("".into()));
    let hidden = hidden.roots("/no/such/proc", "/no/such/dev").run();
    let text = told(&hidden);
    assert!(text.contains("CUDA_VISIBLE_DEVICES is \"\""), "{text}");
    assert!(
        hidden.driver().is_some(),
        "the library is there all the same"
    );

    system.remove("dev/nvidia0");
    assert!(told(&system.probe().run()).contains("dev/nvidia0"));
    system.write("dev/nvidia7", b"");
    assert!(system.probe().run().is_expected(), "any number will do");
    system.remove("dev/nvidiactl");
    assert!(told(&system.probe().run()).contains("dev/nvidiactl"));
    system.remove("proc/driver/nvidia/version");
    let found = system.probe().run();
    let text = told(&found);
    assert!(text.contains("kernel module") && text.contains("driver/nvidia/version"));
    assert!(
        found.driver().is_some(),
        "the library is there all the same"
    );
    // A library of the user's own choice needs none of these files.
    assert!(system.probe().named(true).run().is_expected());
}

// Without it a user without the right group could be told that there is no device.
#[test]
fn a_file_that_may_not_be_opened_is_named() {
    fn denied(path: &Path, name: &str) -> io::Result<()> {
        if path.ends_with(name) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(())
    }
    let system = System::new();
    let control = system.probe().permit(|path| denied(path, "nvidiactl"));
    let text = told(&control.run());
    assert!(
        text.contains("nvidiactl") && text.contains("denied"),
        "{text}"
    );
    let device = system.probe().permit(|path| denied(path, "nvidia0"));
    let text = told(&device.run());
    assert!(text.contains("dev/nvidia0 may not be used"), "{text}");
    system.write("dev/nvidia1", b"");
    assert!(device.run().is_expected(), "the other device may be used");
    // The system's own answer, for a file that may be used and for none.
    permit(&system.path("dev/nvidia0")).unwrap();
    assert!(permit(&system.path("dev/nvidia9")).is_err());
}

// Without it systems that reach their GPU another way could be turned away.
#[test]
fn other_ways_to_a_gpu_are_known() {
    let system = System::new();
    system.remove("proc/driver/nvidia/version");
    system.write("dev/nvmap", b"");
    assert_eq!(system.probe().run().kernel_module, KernelModule::Tegra);
    system.write("dev/dxg", b"");
    let found = system.probe().run();
    assert_eq!(found.kernel_module, KernelModule::Wsl);
    assert!(found.is_expected(), "{found:?}");
    let denied = system
        .probe()
        .permit(|_| Err(io::ErrorKind::PermissionDenied.into()));
    assert!(told(&denied.run()).contains("dxg"));
}

// Without it a file could make the check hang, fail, or print any text.
#[test]
fn hostile_files_do_no_harm() {
    let system = System::new();
    let file = "proc/driver/nvidia/version";
    let endless = "9".repeat(1 << 20);
    let cases: [(&[u8], Option<&str>); 9] = [
        (b"", None),
        (b"\n\n1.2.3", None),
        (&[0xff, 0xfe, 0, b'\n'], None),
        (b"NVRM version: \x1b[2J 1.x.2 1..2 . 1. .1", None),
        (endless.as_bytes(), None),
        (b"a 99999999999999999999.1", Some("99999999999999999999.1")),
        (b"560.35", Some("560.35")),
        (
            "version \u{0661}.\u{0662} 470.1.2".as_bytes(),
            Some("470.1.2"),
        ),
        (b"1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17", None),
    ];
    for (bytes, version) in cases {
        system.write(file, bytes);
        let found = system.probe().run();
        let expected = KernelModule::Nvidia(version.map(Into::into));
        assert_eq!(found.kernel_module, expected, "{bytes:?}");
    }
    system.remove(file);
    std::fs::create_dir(system.path(file)).unwrap();
    assert_eq!(system.probe().run().kernel_module, KernelModule::NotSeen);
    std::fs::remove_dir(system.path(file)).unwrap();
    unix::symlink("version", system.path(file)).unwrap();
    assert_eq!(system.probe().run().kernel_module, KernelModule::NotSeen);
    system.remove(file);
    // No process ever writes to this pipe.
    let pipe = system.path(file);
    let name = CString::new(pipe.as_os_str().as_encoded_bytes()).unwrap();
    // SAFETY: needs a text that a NUL ends, for the time of the call.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o700) }, 0);
    assert_eq!(system.probe().run().kernel_module, KernelModule::NotSeen);
    system.remove(file);
    system.write(file, VERSION.as_bytes());
    for name in [
        "nvidia",
        "nvidia99999999999",
        "nvidia1x",
        "nvidia-modeset",
        "nvidia+1",
    ] {
        system.write(&format!("dev/{name}"), b"");
    }
    assert_eq!(system.probe().run().device_nodes.len(), 2);
    let long = format!("-1\u{1b}[31m\n{endless}");
    let text = told(&system.probe().visible(Some(long.into())).run());
    assert!(
        text.len() < 500 && !text.contains(['\u{1b}', '\n']),
        "{text}"
    );
}

// Without it the quick form could initialise the driver, or the full form contradict it.
#[test]
fn only_the_full_form_initialises_and_it_has_the_last_word() {
    let system = System::new();
    let faults = FaultTable::new(Machine::builder().build().driver());
    let probe = system.probe().with_driver(faults.driver());
    faults.reset();
    let found = probe.run();
    assert!(faults.counts().is_empty(), "{:?}", faults.counts());
    let (found, started) = found.full();
    assert_eq!(started.unwrap().devices, Ok(1));
    assert!(found.is_expected());
    assert_eq!(faults.count(id::cuInit), 1);
    assert_eq!(faults.count(id::cuCtxCreate_v2), 0);

    // The evidence was wrong: there is a device.
    let (found, _) = probe.clone().roots("/no/such", "/no/such").run().full();
    assert!(found.is_expected(), "{found:?}");

    faults.fail_from(id::cuInit, 1, CUresult::CUDA_ERROR_NO_DEVICE);
    let (found, started) = probe.run().full();
    assert!(started.unwrap().devices.is_err());
    assert!(told(&found).contains("CUDA_ERROR_NO_DEVICE"));
    // The evidence explains the driver's answer.
    let (found, _) = probe.clone().roots("/no/such", "/no/such").run().full();
    assert!(told(&found).contains("kernel module"));
    faults.reset();
    // After a fork nothing is called.
    let (found, started) = probe.forked(true).run().full();
    assert!(started.is_none() && faults.counts().is_empty());
    assert!(told(&found).contains("forked"));
    let none = System::new().probe();
    let none = none.with_driver(Machine::builder().devices(0).build().driver());
    let (found, _) = none.run().full();
    assert!(!found.is_expected(), "{found:?}");
}

// Without it this machine's own files could break the check.
#[test]
fn the_system_is_judged_as_it_is() {
    let found = super::super::availability();
    assert_eq!(found.driver().is_some(), found.version.is_some());
    let (found, started) = found.full();
    let devices = started.map_or(0, |started| started.devices.unwrap_or(0));
    assert_eq!(found.is_expected(), devices > 0, "{found:?}");
}
