//! `Features`: the abilities of a device and its driver, as a set.

use std::fmt;

use cupola_sys::driver::{CUdevice_attribute as Attribute, Driver, id};

bitflags::bitflags! {
    /// The abilities of a device, as its driver reports them. `Display` lists the names.
    ///
    /// A driver that does not know a feature's attribute is too old for the feature, so it
    /// reads as absent.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Features: u64 {
        /// Stream-ordered memory pools.
        const MEMORY_POOLS = 1 << 0;
        /// Virtual memory management: reserve, create, map.
        const VIRTUAL_MEMORY = 1 << 1;
        /// Managed memory.
        const MANAGED_MEMORY = 1 << 2;
        /// Host and device may touch managed memory at the same time.
        const CONCURRENT_MANAGED_ACCESS = 1 << 3;
        /// Host and device share one address space.
        const UNIFIED_ADDRESSING = 1 << 4;
        /// Kernels may touch any memory of the host.
        const PAGEABLE_MEMORY_ACCESS = 1 << 5;
        /// Memory of the host can be page-locked in place.
        const HOST_REGISTER = 1 << 6;
        /// Kernels of different streams can run side by side.
        const CONCURRENT_KERNELS = 1 << 7;
        /// Kernels whose blocks wait for each other.
        const COOPERATIVE_LAUNCH = 1 << 8;
        /// Kernels with clusters of blocks.
        const CLUSTER_LAUNCH = 1 << 9;
        /// Streams have priorities.
        const STREAM_PRIORITIES = 1 << 10;
        /// Streams can write and wait for values of 64 bits.
        const STREAM_VALUES_64 = 1 << 11;
        /// A running kernel can be interrupted for another.
        const COMPUTE_PREEMPTION = 1 << 12;
        /// Atomic operations between host and device.
        const HOST_NATIVE_ATOMICS = 1 << 13;
        /// Tensor maps (the tensor memory accelerator).
        const TENSOR_MAPS = 1 << 14;
        /// Virtual memory can be shared between processes by file descriptors.
        const POSIX_FILE_HANDLES = 1 << 15;
        /// Virtual memory can be shared between hosts by fabric handles.
        const FABRIC_HANDLES = 1 << 16;
        /// Multicast objects over several devices.
        const MULTICAST = 1 << 17;
        /// Events can be shared between processes.
        const IPC_EVENTS = 1 << 18;
        /// Other devices on the bus can reach the memory directly.
        const GPU_DIRECT_RDMA = 1 << 19;
        /// The driver has the functions of green contexts (CUDA 12.4). Whether and how this
        /// device can be divided shows when its resources are asked for.
        const GREEN_CONTEXTS = 1 << 20;
    }
}

/// The attribute behind each feature that has one.
pub(super) const ATTRIBUTES: [(Features, Attribute); 20] = [
    (
        Features::MEMORY_POOLS,
        Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
    ),
    (
        Features::VIRTUAL_MEMORY,
        Attribute::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
    ),
    (
        Features::MANAGED_MEMORY,
        Attribute::CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY,
    ),
    (
        Features::CONCURRENT_MANAGED_ACCESS,
        Attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
    ),
    (
        Features::UNIFIED_ADDRESSING,
        Attribute::CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING,
    ),
    (
        Features::PAGEABLE_MEMORY_ACCESS,
        Attribute::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
    ),
    (
        Features::HOST_REGISTER,
        Attribute::CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED,
    ),
    (
        Features::CONCURRENT_KERNELS,
        Attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS,
    ),
    (
        Features::COOPERATIVE_LAUNCH,
        Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
    ),
    (
        Features::CLUSTER_LAUNCH,
        Attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH,
    ),
    (
        Features::STREAM_PRIORITIES,
        Attribute::CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED,
    ),
    (
        Features::STREAM_VALUES_64,
        Attribute::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS,
    ),
    (
        Features::COMPUTE_PREEMPTION,
        Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED,
    ),
    (
        Features::HOST_NATIVE_ATOMICS,
        Attribute::CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED,
    ),
    (
        Features::TENSOR_MAPS,
        Attribute::CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED,
    ),
    (
        Features::POSIX_FILE_HANDLES,
        Attribute::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
    ),
    (
        Features::FABRIC_HANDLES,
        Attribute::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED,
    ),
    (
        Features::MULTICAST,
        Attribute::CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED,
    ),
    (
        Features::IPC_EVENTS,
        Attribute::CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED,
    ),
    (
        Features::GPU_DIRECT_RDMA,
        Attribute::CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED,
    ),
];

impl Features {
    /// Features that are a matter of the driver's functions alone.
    pub(super) fn of_driver(driver: &Driver) -> Self {
        if driver.has(id::cuGreenCtxCreate) && driver.has(id::cuDeviceGetDevResource) {
            Self::GREEN_CONTEXTS
        } else {
            Self::empty()
        }
    }
}

/// "memory pools, managed memory"; "none" for the empty set.
impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (index, (name, _)) in self.iter_names().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            for letter in name.chars() {
                let letter = if letter == '_' { ' ' } else { letter };
                write!(f, "{}", letter.to_ascii_lowercase())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it a feature could be read from no attribute, or two from one, and be absent
    // or wrong on every device.
    #[test]
    fn each_feature_has_one_source() {
        let mut seen = Features::GREEN_CONTEXTS;
        for (index, (feature, attribute)) in ATTRIBUTES.iter().enumerate() {
            assert!(!seen.intersects(*feature), "{feature} twice");
            seen |= *feature;
            let others = &ATTRIBUTES[index + 1..];
            assert!(
                others.iter().all(|(_, other)| other != attribute),
                "{feature}"
            );
        }
        assert_eq!(seen, Features::all());
    }

    // Without it an error could list features by the names of constants.
    #[test]
    fn sets_are_shown_as_words() {
        let both = Features::MEMORY_POOLS | Features::IPC_EVENTS;
        assert_eq!(both.to_string(), "memory pools, ipc events");
        assert_eq!(Features::empty().to_string(), "none");
    }
}
