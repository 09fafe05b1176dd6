"""Names of onnxruntime's own extension module, which programs reach below its public ones for."""
from .. import (  # noqa: F401
    AdapterFormat,
    ExecutionMode,
    ExecutionOrder,
    GraphOptimizationLevel,
    IOBinding,
    InferenceSession,
    LoraAdapter,
    ModelMetadata,
    NodeArg,
    OrtAllocatorType,
    OrtArenaCfg,
    OrtCompileApiFlags,
    OrtCompiledModelCompatibility,
    OrtDevice,
    OrtDeviceMemoryType,
    OrtDeviceEpIncompatibilityReason,
    OrtEpAssignedNode,
    OrtEpAssignedSubgraph,
    OrtEpDevice,
    OrtExecutionProviderDevicePolicy,
    OrtExternalInitializerInfo,
    OrtHardwareDevice,
    OrtHardwareDeviceType,
    OrtMemType,
    OrtMemoryInfo,
    OrtMemoryInfoDeviceType,
    OrtSparseFormat,
    OrtValue,
    OrtValueVector,
    RunOptions,
    SessionOptions,
    SparseTensor,
    copy_tensors,
    create_and_register_allocator,
    create_and_register_allocator_v2,
    disable_telemetry_events,
    enable_telemetry_events,
    get_all_providers,
    get_available_providers,
    get_build_info,
    get_compatibility_info_from_model,
    get_compatibility_info_from_model_bytes,
    get_device,
    get_ep_devices,
    get_hardware_device_ep_incompatibility_details,
    get_hardware_devices,
    get_model_compatibility_for_ep_devices,
    get_version_string,
    has_collective_ops,
    register_execution_provider_library,
    set_default_logger_callback,
    set_default_logger_severity,
    set_default_logger_verbosity,
    set_global_thread_pool_sizes,
    set_seed,
    unregister_execution_provider_library,
)
from .._sardonyx import (  # noqa: F401
    EPFail,
    EngineError,
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    ModelLoadCanceled,
    ModelLoaded,
    ModelRequiresCompilation,
    NoModel,
    NoSuchFile,
    NotFound,
    NotImplemented,
    RuntimeException,
    SparseBlockSparseView,
    SparseCooView,
    SparseCsrView,
    is_dlpack_uint8_tensor,
)


def get_default_session_options():
    """New ones."""
    return SessionOptions()


class SessionOfNames:
    """What InferenceSession._sess is: the session with the arguments of onnxruntime's extension module."""

    def __init__(self, session):
        self._session = session

    def __getattr__(self, name):
        return getattr(self._session, name)

    def run_with_ort_values(self, feed, output_names, run_options=None):
        return OrtValueVector(self._session.run_with_ort_values(output_names, feed, run_options))

    def run_with_iobinding(self, binding, run_options=None):
        self._session.run_with_iobinding(binding._of, run_options)

    @property
    def inputs_meta(self):
        return self._session.get_inputs()

    @property
    def outputs_meta(self):
        return self._session.get_outputs()

    @property
    def overridable_initializers(self):
        return self._session.get_overridable_initializers()

    @property
    def model_meta(self):
        return self._session.get_modelmeta()

    @property
    def session_options(self):
        return self._session.get_session_options()

    @property
    def get_profiling_start_time_ns(self):
        return self._session.get_profiling_start_time_ns()


class SessionIOBinding:
    """A binding with the arguments of onnxruntime's extension module: of a session's `_sess`, or over an IOBinding."""

    def __init__(self, session):
        self._of = session if isinstance(session, IOBinding) else IOBinding(getattr(session, "_session", session))

    def bind_input(self, name, array_or_device, element_type=None, shape=None, buffer_ptr=None):
        if isinstance(array_or_device, OrtDevice):
            self._of.bind_input(name, _name_of(array_or_device), 0, element_type, shape, buffer_ptr)
        else:
            self._of.bind_cpu_input(name, array_or_device)

    def bind_output(self, name, device, element_type=None, shape=None, buffer_ptr=None):
        self._of.bind_output(name, _name_of(device), device.device_id(), element_type, shape, buffer_ptr)

    def bind_ortvalue_input(self, name, value):
        self._of.bind_ortvalue_input(name, value)

    def bind_ortvalue_output(self, name, value):
        self._of.bind_ortvalue_output(name, value)

    def get_outputs(self):
        return self._of.get_outputs_as_ortvaluevector()

    def copy_outputs_to_cpu(self):
        return self._of.copy_outputs_to_cpu()

    def synchronize_inputs(self):
        """Nothing to wait for on the CPU."""

    synchronize_outputs = synchronize_inputs

    def clear_binding_inputs(self):
        self._of.clear_binding_inputs()

    def clear_binding_outputs(self):
        self._of.clear_binding_outputs()


def _name_of(device):
    return "cpu" if device.device_type() == OrtDevice.cpu() else repr(device)
