//! Whether a driver would load a PTX text, without a context to load it into.

use crate::device::machine::config::MachineBuilder;
use crate::device::memory::{GRANULE, MANAGED_ALIGN};
use crate::device::modules::module::load::{decode, parse};
use crate::exec::{Placement, Program, VarSpace, WINDOWS_START};

impl MachineBuilder {
    /// Does everything with a PTX text that `cuModuleLoadData` of this machine's first device
    /// does, except to keep it: also what the text needs of the device (its target, its memory,
    /// a block's shared memory) must be there. Functions that cannot be executed are no error;
    /// [`Program::undecodable`] has them.
    ///
    /// # Errors
    /// What the driver's error log would say.
    pub fn check_ptx(&self, text: &str) -> Result<Program, String> {
        let device = self.devices.first().cloned().unwrap_or_default();
        let checked = parse(self.version, device.capability, text).and_then(|mut module| {
            let mut room = Room::new(device.memory);
            decode(&mut module, &mut room, false)
        });
        checked.map_err(|(_, text)| text)
    }
}

/// Gives variables addresses that nothing is stored at, while there is memory for them.
struct Room {
    next: u64,
    left: u64,
}

impl Room {
    fn new(memory: u64) -> Self {
        Self {
            next: GRANULE,
            left: memory,
        }
    }
}

impl Placement for Room {
    fn place(&mut self, _: &str, space: VarSpace, size: u64, align: u64) -> Option<u64> {
        if space == VarSpace::Managed && align > MANAGED_ALIGN {
            return None;
        }
        let extent = size.max(1).checked_next_multiple_of(GRANULE)?;
        // Managed memory is the host's.
        if space != VarSpace::Managed {
            self.left = self.left.checked_sub(extent)?;
        }
        let start = self.next.checked_next_multiple_of(align.max(1))?;
        self.next = start.checked_add(extent)?;
        // Any addresses will do that are not of the engine's own windows.
        (self.next <= WINDOWS_START).then_some(start)
    }

    fn fill(&mut self, _: u64, _: &[u8]) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{DeviceConfig, Machine};

    fn check(builder: &MachineBuilder, text: &str) -> Result<(), String> {
        let text = format!("{text} .visible .entry k() {{ ret; }}");
        builder.check_ptx(&text).map(drop)
    }

    /// Without it, a text could be said to run that no call can load.
    #[test]
    fn what_cannot_be_loaded_is_no_good() {
        const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";
        let device = DeviceConfig::new().memory(1 << 20);
        let builder = Machine::builder().device(device);
        assert_eq!(check(&builder, HEAD), Ok(()));
        let shared = |bytes: u32| {
            format!(
                "{HEAD}.shared .b8 s[{bytes}]; .visible .entry e() {{ .reg .b32 %r;
                 st.shared.b32 [s], %r; ret; }}"
            )
        };
        assert_eq!(check(&builder, &shared(49152)), Ok(()));
        for (bad, why) in [
            (shared(49153), "more than 49152"),
            (format!("{HEAD}.const .b8 c[65537];"), "more than 65536"),
            (format!("{HEAD}.global .b8 g[1048577];"), "no room"),
            (
                HEAD.replace("sm_80", "sm_90"),
                "the PTX is for sm_90, the device is sm_80",
            ),
            (HEAD.replace("8.0", "9.9"), "newer than this driver"),
            (
                format!("{HEAD}.extern .func f(); .func g() {{ call f; ret; }}"),
                "f is extern and defined nowhere",
            ),
            ("text".into(), "no .version"),
        ] {
            let said = check(&builder, &bad).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
