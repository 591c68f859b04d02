//! The capability bits and the structure that carries them.

use std::fmt;

/// Number of a capability's bit in [`jvmtiCapabilities`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capability(u8);

/// `jvmtiCapabilities` of the header: 128 one-bit fields in four words.
#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct jvmtiCapabilities {
    words: [u32; 4],
}

// The C structure consists of bit fields, which compilers fill from the other end on big-endian machines.
#[cfg(not(target_endian = "little"))]
compile_error!("jvmtiCapabilities is only laid out for little-endian machines");

impl Capability {
    /// The bit's number, as in the header from 0.
    pub const fn bit(self) -> usize {
        self.0 as usize
    }

    /// The name in the header, such as `can_tag_objects`.
    pub fn name(self) -> &'static str {
        CAPABILITIES[self.bit()].1
    }
}

impl jvmtiCapabilities {
    /// No capability at all.
    pub const NONE: Self = Self { words: [0; 4] };

    /// Exactly the listed capabilities.
    pub const fn of(list: &[Capability]) -> Self {
        let mut capabilities = Self::NONE;
        let mut i = 0;
        while i < list.len() {
            capabilities = capabilities.with(list[i]);
            i += 1;
        }
        capabilities
    }

    /// Whether the bit is set.
    pub const fn has(&self, capability: Capability) -> bool {
        self.words[capability.bit() / 32] & (1 << (capability.bit() % 32)) != 0
    }

    /// The same with this bit set.
    pub const fn with(mut self, capability: Capability) -> Self {
        self.words[capability.bit() / 32] |= 1 << (capability.bit() % 32);
        self
    }

    /// The capabilities that both sets have.
    pub fn intersection(self, other: Self) -> Self {
        Self { words: std::array::from_fn(|i| self.words[i] & other.words[i]) }
    }

    /// The capabilities that this set has and `other` lacks.
    pub fn difference(self, other: Self) -> Self {
        Self { words: std::array::from_fn(|i| self.words[i] & !other.words[i]) }
    }

    /// Whether no bit is set, not even one that this crate has no name for.
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }

    /// The capabilities of the set that this crate knows, lowest bit first.
    pub fn iter(&self) -> impl Iterator<Item = Capability> + '_ {
        CAPABILITIES.iter().map(|&(capability, _)| capability).filter(|&capability| self.has(capability))
    }
}

impl fmt::Debug for jvmtiCapabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Capability::name)).finish()
    }
}

/// Defines the capabilities and the list of all of them from one row each: bit, constant, name in the header.
macro_rules! capabilities {
    ($($bit:literal $constant:ident $name:ident)*) => {
        $(#[doc = concat!("Bit ", $bit, ": `", stringify!($name), "`.")]
        pub const $constant: Capability = Capability($bit);)*

        /// Every capability and its name; the index is the bit.
        pub const CAPABILITIES: &[(Capability, &str)] = &[$(($constant, stringify!($name)),)*];
    };
}

capabilities! {
    0 CAN_TAG_OBJECTS can_tag_objects
    1 CAN_GENERATE_FIELD_MODIFICATION_EVENTS can_generate_field_modification_events
    2 CAN_GENERATE_FIELD_ACCESS_EVENTS can_generate_field_access_events
    3 CAN_GET_BYTECODES can_get_bytecodes
    4 CAN_GET_SYNTHETIC_ATTRIBUTE can_get_synthetic_attribute
    5 CAN_GET_OWNED_MONITOR_INFO can_get_owned_monitor_info
    6 CAN_GET_CURRENT_CONTENDED_MONITOR can_get_current_contended_monitor
    7 CAN_GET_MONITOR_INFO can_get_monitor_info
    8 CAN_POP_FRAME can_pop_frame
    9 CAN_REDEFINE_CLASSES can_redefine_classes
    10 CAN_SIGNAL_THREAD can_signal_thread
    11 CAN_GET_SOURCE_FILE_NAME can_get_source_file_name
    12 CAN_GET_LINE_NUMBERS can_get_line_numbers
    13 CAN_GET_SOURCE_DEBUG_EXTENSION can_get_source_debug_extension
    14 CAN_ACCESS_LOCAL_VARIABLES can_access_local_variables
    15 CAN_MAINTAIN_ORIGINAL_METHOD_ORDER can_maintain_original_method_order
    16 CAN_GENERATE_SINGLE_STEP_EVENTS can_generate_single_step_events
    17 CAN_GENERATE_EXCEPTION_EVENTS can_generate_exception_events
    18 CAN_GENERATE_FRAME_POP_EVENTS can_generate_frame_pop_events
    19 CAN_GENERATE_BREAKPOINT_EVENTS can_generate_breakpoint_events
    20 CAN_SUSPEND can_suspend
    21 CAN_REDEFINE_ANY_CLASS can_redefine_any_class
    22 CAN_GET_CURRENT_THREAD_CPU_TIME can_get_current_thread_cpu_time
    23 CAN_GET_THREAD_CPU_TIME can_get_thread_cpu_time
    24 CAN_GENERATE_METHOD_ENTRY_EVENTS can_generate_method_entry_events
    25 CAN_GENERATE_METHOD_EXIT_EVENTS can_generate_method_exit_events
    26 CAN_GENERATE_ALL_CLASS_HOOK_EVENTS can_generate_all_class_hook_events
    27 CAN_GENERATE_COMPILED_METHOD_LOAD_EVENTS can_generate_compiled_method_load_events
    28 CAN_GENERATE_MONITOR_EVENTS can_generate_monitor_events
    29 CAN_GENERATE_VM_OBJECT_ALLOC_EVENTS can_generate_vm_object_alloc_events
    30 CAN_GENERATE_NATIVE_METHOD_BIND_EVENTS can_generate_native_method_bind_events
    31 CAN_GENERATE_GARBAGE_COLLECTION_EVENTS can_generate_garbage_collection_events
    32 CAN_GENERATE_OBJECT_FREE_EVENTS can_generate_object_free_events
    33 CAN_FORCE_EARLY_RETURN can_force_early_return
    34 CAN_GET_OWNED_MONITOR_STACK_DEPTH_INFO can_get_owned_monitor_stack_depth_info
    35 CAN_GET_CONSTANT_POOL can_get_constant_pool
    36 CAN_SET_NATIVE_METHOD_PREFIX can_set_native_method_prefix
    37 CAN_RETRANSFORM_CLASSES can_retransform_classes
    38 CAN_RETRANSFORM_ANY_CLASS can_retransform_any_class
    39 CAN_GENERATE_RESOURCE_EXHAUSTION_HEAP_EVENTS can_generate_resource_exhaustion_heap_events
    40 CAN_GENERATE_RESOURCE_EXHAUSTION_THREADS_EVENTS can_generate_resource_exhaustion_threads_events
    41 CAN_GENERATE_EARLY_VMSTART can_generate_early_vmstart
    42 CAN_GENERATE_EARLY_CLASS_HOOK_EVENTS can_generate_early_class_hook_events
    43 CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS can_generate_sampled_object_alloc_events
    44 CAN_SUPPORT_VIRTUAL_THREADS can_support_virtual_threads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_behave_as_sets() {
        let tags = jvmtiCapabilities::of(&[CAN_TAG_OBJECTS, CAN_SUPPORT_VIRTUAL_THREADS]);
        assert!(tags.has(CAN_TAG_OBJECTS) && !tags.has(CAN_SUSPEND));
        assert_eq!(tags.difference(tags), jvmtiCapabilities::NONE);
        assert!(tags.intersection(jvmtiCapabilities::of(&[CAN_SUSPEND])).is_empty());
        assert_eq!(format!("{tags:?}"), r#"{"can_tag_objects", "can_support_virtual_threads"}"#);
    }

    #[test]
    fn the_list_is_in_bit_order() {
        for (bit, &(capability, name)) in CAPABILITIES.iter().enumerate() {
            assert_eq!((capability.bit(), capability.name()), (bit, name));
        }
    }
}
