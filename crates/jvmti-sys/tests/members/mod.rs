//! The members of every structure of `jvmti.h`, written once for both layout tests.

/// Calls `$then! { structure { member, ... } ... }` with all structures but the function table and the capabilities.
macro_rules! with_structs {
    ($then:ident) => {
        $then! {
            jvmtiThreadInfo { name, priority, is_daemon, thread_group, context_class_loader }
            jvmtiMonitorStackDepthInfo { monitor, stack_depth }
            jvmtiThreadGroupInfo { parent, name, max_priority, is_daemon }
            jvmtiFrameInfo { method, location }
            jvmtiStackInfo { thread, state, frame_buffer, frame_count }
            jvmtiHeapReferenceInfoField { index }
            jvmtiHeapReferenceInfoArray { index }
            jvmtiHeapReferenceInfoConstantPool { index }
            jvmtiHeapReferenceInfoStackLocal { thread_tag, thread_id, depth, method, location, slot }
            jvmtiHeapReferenceInfoJniLocal { thread_tag, thread_id, depth, method }
            jvmtiHeapReferenceInfoReserved {
                reserved1, reserved2, reserved3, reserved4, reserved5, reserved6, reserved7,
                reserved8
            }
            jvmtiHeapReferenceInfo { field, array, constant_pool, stack_local, jni_local, other }
            jvmtiHeapCallbacks {
                heap_iteration_callback, heap_reference_callback, primitive_field_callback,
                array_primitive_value_callback, string_primitive_value_callback, reserved5,
                reserved6, reserved7, reserved8, reserved9, reserved10, reserved11, reserved12,
                reserved13, reserved14, reserved15
            }
            jvmtiClassDefinition { klass, class_byte_count, class_bytes }
            jvmtiMonitorUsage {
                owner, entry_count, waiter_count, waiters, notify_waiter_count, notify_waiters
            }
            jvmtiLineNumberEntry { start_location, line_number }
            jvmtiLocalVariableEntry { start_location, length, name, signature, generic_signature, slot }
            jvmtiParamInfo { name, kind, base_type, null_ok }
            jvmtiExtensionFunctionInfo {
                func, id, short_description, param_count, params, error_count, errors
            }
            jvmtiExtensionEventInfo {
                extension_event_index, id, short_description, param_count, params
            }
            jvmtiTimerInfo {
                max_value, may_skip_forward, may_skip_backward, kind, reserved1, reserved2
            }
            jvmtiAddrLocationMap { start_address, location }
            jvmtiEventCallbacks {
                VMInit, VMDeath, ThreadStart, ThreadEnd, ClassFileLoadHook, ClassLoad,
                ClassPrepare, VMStart, Exception, ExceptionCatch, SingleStep, FramePop,
                Breakpoint, FieldAccess, FieldModification, MethodEntry, MethodExit,
                NativeMethodBind, CompiledMethodLoad, CompiledMethodUnload,
                DynamicCodeGenerated, DataDumpRequest, reserved72, MonitorWait, MonitorWaited,
                MonitorContendedEnter, MonitorContendedEntered, reserved77, reserved78,
                reserved79, ResourceExhausted, GarbageCollectionStart, GarbageCollectionFinish,
                ObjectFree, VMObjectAlloc, reserved85, SampledObjectAlloc, VirtualThreadStart,
                VirtualThreadEnd
            }
        }
    };
}

pub(crate) use with_structs;
