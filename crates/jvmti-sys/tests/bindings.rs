//! The layout against that of the independently written `jvmti-bindings` crate.

mod members;

use std::mem::{align_of, offset_of, size_of};

use jvmti_bindings::sys::jvmti as theirs;
use jvmti_sys::{self as ours, CAPABILITIES, SLOTS};

#[test]
fn structures_agree() {
    macro_rules! compare {
        ($($name:ident { $($member:ident),* })*) => {$(
            assert_eq!(size_of::<ours::$name>(), size_of::<theirs::$name>(), stringify!($name));
            assert_eq!(align_of::<ours::$name>(), align_of::<theirs::$name>(), stringify!($name));
            $(assert_eq!(
                offset_of!(ours::$name, $member),
                offset_of!(theirs::$name, $member),
                "{}.{}", stringify!($name), stringify!($member),
            );)*
        )*};
    }
    members::with_structs!(compare);
}

#[test]
fn the_tables_agree() {
    macro_rules! compare {
        ($($slot:ident)*) => {
            vec![$((stringify!($slot), offset_of!(theirs::jvmtiInterface_1_, $slot)),)*]
        };
    }
    let mut expected = compare! {
        SetEventNotificationMode GetAllModules GetAllThreads SuspendThread ResumeThread
        StopThread InterruptThread GetThreadInfo GetOwnedMonitorInfo GetCurrentContendedMonitor
        RunAgentThread GetTopThreadGroups GetThreadGroupInfo GetThreadGroupChildren
        GetFrameCount GetThreadState GetCurrentThread GetFrameLocation NotifyFramePop
        GetLocalObject GetLocalInt GetLocalLong GetLocalFloat GetLocalDouble SetLocalObject
        SetLocalInt SetLocalLong SetLocalFloat SetLocalDouble CreateRawMonitor DestroyRawMonitor
        RawMonitorEnter RawMonitorExit RawMonitorWait RawMonitorNotify RawMonitorNotifyAll
        SetBreakpoint ClearBreakpoint GetNamedModule SetFieldAccessWatch ClearFieldAccessWatch
        SetFieldModificationWatch ClearFieldModificationWatch IsModifiableClass Allocate
        Deallocate GetClassSignature GetClassStatus GetSourceFileName GetClassModifiers
        GetClassMethods GetClassFields GetImplementedInterfaces IsInterface IsArrayClass
        GetClassLoader GetObjectHashCode GetObjectMonitorUsage GetFieldName
        GetFieldDeclaringClass GetFieldModifiers IsFieldSynthetic GetMethodName
        GetMethodDeclaringClass GetMethodModifiers ClearAllFramePops GetMaxLocals
        GetArgumentsSize GetLineNumberTable GetMethodLocation GetLocalVariableTable
        SetNativeMethodPrefix SetNativeMethodPrefixes GetBytecodes IsMethodNative
        IsMethodSynthetic GetLoadedClasses GetClassLoaderClasses PopFrame ForceEarlyReturnObject
        ForceEarlyReturnInt ForceEarlyReturnLong ForceEarlyReturnFloat ForceEarlyReturnDouble
        ForceEarlyReturnVoid RedefineClasses GetVersionNumber GetCapabilities
        GetSourceDebugExtension IsMethodObsolete SuspendThreadList ResumeThreadList
        AddModuleReads AddModuleExports AddModuleOpens AddModuleUses AddModuleProvides
        IsModifiableModule GetAllStackTraces GetThreadListStackTraces GetThreadLocalStorage
        SetThreadLocalStorage GetStackTrace GetTag SetTag ForceGarbageCollection
        IterateOverObjectsReachableFromObject IterateOverReachableObjects IterateOverHeap
        IterateOverInstancesOfClass GetObjectsWithTags FollowReferences IterateThroughHeap
        SuspendAllVirtualThreads ResumeAllVirtualThreads SetJNIFunctionTable GetJNIFunctionTable
        SetEventCallbacks GenerateEvents GetExtensionFunctions GetExtensionEvents
        SetExtensionEventCallback DisposeEnvironment GetErrorName GetJLocationFormat
        GetSystemProperties GetSystemProperty SetSystemProperty GetPhase
        GetCurrentThreadCpuTimerInfo GetCurrentThreadCpuTime GetThreadCpuTimerInfo
        GetThreadCpuTime GetTimerInfo GetTime GetPotentialCapabilities AddCapabilities
        RelinquishCapabilities GetAvailableProcessors GetClassVersionNumbers GetConstantPool
        GetEnvironmentLocalStorage SetEnvironmentLocalStorage AddToBootstrapClassLoaderSearch
        SetVerboseFlag AddToSystemClassLoaderSearch RetransformClasses
        GetOwnedMonitorStackDepthInfo GetObjectSize GetLocalInstance SetHeapSamplingInterval
    };
    assert_eq!(size_of::<ours::jvmtiInterface_1_>(), size_of::<theirs::jvmtiInterface_1_>());
    let functions = SLOTS.iter().filter(|slot| !slot.1.starts_with("reserved"));
    let mut ours: Vec<_> = functions.map(|&(_, name, offset)| (name, offset)).collect();
    ours.sort();
    expected.sort();
    assert_eq!(ours, expected);
}

#[test]
fn capability_bits_agree() {
    macro_rules! read {
        ($($name:ident)*) => {
            |set: &theirs::jvmtiCapabilities| -> Vec<&'static str> {
                let bits = [$((stringify!($name), set.$name()),)*];
                bits.into_iter().filter(|bit| bit.1).map(|bit| bit.0).collect()
            }
        };
    }
    let names_set = read! {
            can_tag_objects can_generate_field_modification_events
            can_generate_field_access_events can_get_bytecodes can_get_synthetic_attribute
            can_get_owned_monitor_info can_get_current_contended_monitor can_get_monitor_info
            can_pop_frame can_redefine_classes can_signal_thread can_get_source_file_name
            can_get_line_numbers can_get_source_debug_extension can_access_local_variables
            can_maintain_original_method_order can_generate_single_step_events
            can_generate_exception_events can_generate_frame_pop_events
            can_generate_breakpoint_events can_suspend can_redefine_any_class
            can_get_current_thread_cpu_time can_get_thread_cpu_time
            can_generate_method_entry_events can_generate_method_exit_events
            can_generate_all_class_hook_events can_generate_compiled_method_load_events
            can_generate_monitor_events can_generate_vm_object_alloc_events
            can_generate_native_method_bind_events can_generate_garbage_collection_events
            can_generate_object_free_events can_force_early_return
            can_get_owned_monitor_stack_depth_info can_get_constant_pool
            can_set_native_method_prefix can_retransform_classes can_retransform_any_class
            can_generate_resource_exhaustion_heap_events
            can_generate_resource_exhaustion_threads_events can_generate_early_vmstart
            can_generate_early_class_hook_events can_generate_sampled_object_alloc_events
            can_support_virtual_threads
    };
    assert_eq!(size_of::<ours::jvmtiCapabilities>(), size_of::<theirs::jvmtiCapabilities>());
    for &(capability, name) in CAPABILITIES {
        let set = ours::jvmtiCapabilities::NONE.with(capability);
        // SAFETY: both types are plain words of the same size, and every bit pattern is valid.
        let set: theirs::jvmtiCapabilities = unsafe { std::mem::transmute(set) };
        assert_eq!(names_set(&set), [name]);
    }
}
