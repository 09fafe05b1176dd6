"""Runs ONNX models. The names are those of the package onnxruntime: ``import sardonyx as onnxruntime`` serves.

Beside them: ``check_model``, ``infer_shapes``, ``convert_version`` and ``optimize`` for model files, and
``sardonyx.backend`` for the ONNX project's backend tests.
"""
import os
import threading

from . import _sardonyx
from ._sardonyx import (  # noqa: F401
    AdapterFormat,
    EPFail,
    EngineError,
    ExecutionMode,
    ExecutionOrder,
    Fail,
    GraphOptimizationLevel,
    InputInfo,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    LoraAdapter,
    ModelLoadCanceled,
    ModelLoaded,
    ModelMetadata,
    ModelRequiresCompilation,
    NoModel,
    NoSuchFile,
    NodeArg,
    NotFound,
    NotImplemented,
    OrtExternalInitializerInfo,
    OrtSparseFormat,
    OrtValue,
    RunOptions,
    RuntimeException,
    SparseTensor,
    __version__,
    check_model,
    convert_version,
    infer_shapes,
    optimize,
    set_default_logger_callback,
    set_default_logger_severity,
    set_global_thread_pool_sizes,
    set_seed,
)

from ._devices import (  # noqa: F401
    OrtCompileApiFlags,
    OrtCompiledModelCompatibility,
    OrtDeviceEpIncompatibilityReason,
    OrtEpAssignedNode,
    OrtEpAssignedSubgraph,
    OrtEpDevice,
    OrtHardwareDevice,
    OrtHardwareDeviceType,
    OrtValueVector,
    copy_tensors,
    get_compatibility_info_from_model,
    get_compatibility_info_from_model_bytes,
    get_ep_devices,
    get_hardware_device_ep_incompatibility_details,
    get_hardware_devices,
    get_model_compatibility_for_ep_devices,
    has_collective_ops,
    preload_dlls,
    register_execution_provider_library,
    unregister_execution_provider_library,
)
from ._memory import (  # noqa: F401
    OrtAllocatorType,
    OrtArenaCfg,
    OrtDevice,
    OrtDeviceMemoryType,
    OrtDeviceVendorId,
    OrtMemoryInfo,
    OrtMemoryInfoDeviceType,
    OrtMemType,
    cpu_memory_info as _cpu_memory_info,
    create_and_register_allocator,
    create_and_register_allocator_v2,
)
from ._providers import (  # noqa: F401
    check_and_normalize_provider_args as _normalized,
    get_all_providers,
    get_available_providers,
)
from ._session_options import (  # noqa: F401
    OrtExecutionProviderDevicePolicy,
    SessionOptions,
    select_devices as _select_devices,
)
from ._options_in_models import options_in_model as _options_in_model

_CPU = "CPUExecutionProvider"


def get_device():
    """Where models run: "CPU"."""
    return "CPU"


def get_version_string():
    """The version of the library."""
    return __version__


def get_build_info():
    """The library and its version."""
    return "sardonyx Build Info: version=" + __version__


def set_default_logger_verbosity(level):
    """Accepted for compatibility: severities alone decide what is logged."""
    int(level)


def enable_telemetry_events():
    """Accepted for compatibility: nothing is ever sent."""


def disable_telemetry_events():
    """Accepted for compatibility: nothing is ever sent."""


def register_custom_op(
    name, compute, signature, types=None, attributes=None, infer=None, since=1, pure=True, shape_inputs=()
):
    """Adds an operator for the whole process, which models that are loaded from now on may use.

    name: "domain::Name"; the domain is not one of ONNX's own.
    compute: a function of arrays (None where a node omits an input) and, by name, attributes. It gives an array, or
        a tuple of them, one for each output. Runs call it in any thread, with the interpreter's lock. What it raises
        is raised by the run as InvalidArgument, with the node's name; KeyboardInterrupt and SystemExit as themselves.
    signature: inputs and outputs, "(x: T, bias?: float, more...0: T) -> (y: T)": with element types by ONNX's names
        or names of `types`; `?` marks optional ones, `...` any number from one on, `...0` from none on.
    types: which element types a name stands for: {"T": ["float", "double"]}.
    attributes: a default for each (int, float, str, an array, a list); a class (int, float, str, numpy.ndarray) or a
        list of one ([int]) where each node must give it.
    infer: a function of InputInfos and attributes that gives a list of (dtype, shape), one for each output: a shape is
        a list of ints, names of the inputs' sizes, and None for what is not known, or None altogether. What it tells
        must come true. Without it shapes are known once they are computed.
    since: the first version of the domain that has the operator.
    pure: equal inputs give equal outputs, and nothing else comes of a call. Of constants it is then computed once.
    shape_inputs: indices of inputs whose elements `infer` needs to know shapes.

    Raises InvalidArgument where this does not fit together, or there is an operator of this name.
    """
    domain, _, own_name = name.partition("::")
    types, attributes, shape_inputs = dict(types or {}), dict(attributes or {}), list(shape_inputs)
    _sardonyx._register_custom_op(
        domain, own_name, compute, signature, types, attributes, infer, since, pure, shape_inputs
    )


def unregister_custom_op(name):
    """From now on "domain::Name" is not found any more; sessions that have it go on with it."""
    domain, _, own_name = name.partition("::")
    _sardonyx._unregister_custom_op(domain, own_name)


def _source(model):
    """A path as str, or bytes."""
    if isinstance(model, (str, bytes)):
        return model
    if isinstance(model, (bytearray, memoryview)):
        return bytes(model)
    if isinstance(model, os.PathLike):
        return os.fspath(model)
    if hasattr(model, "SerializeToString"):
        return model.SerializeToString()
    raise TypeError("Unable to load from type '{}'".format(type(model)))


class ModelCompiler(_sardonyx.ModelCompiler):
    """Writes a model as it is optimised ahead, in ONNX's own operators: nothing is compiled for a device.

    input_model_path_or_bytes: the path or the content of an .onnx file.
    external_initializers_file_path: where initializers of at least external_initializers_size_threshold bytes go.
    flags: of OrtCompileApiFlags.
    get_initializer_location_func: instead, is told an initializer's name, its OrtValue and where it was outside of the
        model's file (an OrtExternalInitializerInfo or None), and says where it is to be; None: in the model's file.
    embed_compiled_data_into_model: accepted for compatibility.
    """

    def __init__(
        self,
        sess_options,
        input_model_path_or_bytes,
        embed_compiled_data_into_model=False,
        external_initializers_file_path=None,
        external_initializers_size_threshold=1024,
        flags=OrtCompileApiFlags.NONE,
        graph_optimization_level=GraphOptimizationLevel.ORT_DISABLE_ALL,
        get_initializer_location_func=None,
    ):
        model = _source(input_model_path_or_bytes)
        if not model:
            kind = "path" if isinstance(model, str) else "bytes array"
            raise ValueError("Input model %s is empty" % kind)
        if isinstance(model, str):
            model = os.path.expanduser(model)
        external = external_initializers_file_path or ""
        if not isinstance(external, (str, os.PathLike)):
            raise TypeError("Output external initializer filepath is of unexpected type '%s'" % type(external))
        super().__init__(
            sess_options,
            model,
            os.path.expanduser(external),
            external_initializers_size_threshold,
            int(flags),
            graph_optimization_level,
            get_initializer_location_func,
        )

    def compile_to_file(self, output_model_path=None):
        """None: beside the model's file, "_ctx" behind its name."""
        if output_model_path is not None and not isinstance(output_model_path, (str, os.PathLike)):
            raise TypeError("Output model's filepath is of unexpected type '%s'" % type(output_model_path))
        self._to_file(os.path.expanduser(output_model_path) if output_model_path else None)

    def compile_to_bytes(self):
        return self._to_bytes()

    def compile_to_stream(self, write_function):
        """write_function(bytes) is called with the model's file, in one or several parts."""
        self._to_stream(write_function)


class InferenceSession(_sardonyx.Session):
    """A model that is ready to run, from any number of threads at once.

    path_or_bytes: the path or the content of an .onnx file.
    sess_options: a SessionOptions.
    providers, provider_options: names as onnxruntime takes them; the CPU alone is available.
    """

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        for name in kwargs:
            if name not in ("disabled_optimizers", "enable_fallback", "read_config_from_model"):
                raise TypeError("InferenceSession: unexpected argument '{}'".format(name))
        _normalized(providers, provider_options, get_available_providers())
        model = _source(path_or_bytes)
        if isinstance(model, str) and not os.path.exists(model):
            raise NoSuchFile(
                "[sardonyx] : 3 : NO_SUCHFILE : Load model from {0} failed:Load model {0} failed. "
                "File doesn't exist".format(model)
            )
        options = sess_options if sess_options is not None else SessionOptions()
        if os.environ.get("ORT_LOAD_CONFIG_FROM_MODEL") == "1":
            options = _options_in_model(_sardonyx.Session(model, options).get_modelmeta(), options)
        super().__init__(model, options)
        _select_devices(options, self.get_modelmeta)
        self._options = options

    def get_session_options(self):
        """The options the session was made with."""
        return self._options

    def get_providers(self):
        return [_CPU]

    def get_provider_options(self):
        return {_CPU: {}}

    def set_providers(self, providers=None, provider_options=None):
        """Checks the names; the session stays on the CPU."""
        names, _ = _normalized(providers, provider_options, get_available_providers())
        for name in names:
            if name not in get_all_providers():
                raise RuntimeError("Unknown Provider Type: " + name)

    def get_input_memory_infos(self):
        """Where each input is taken from."""
        return [_cpu_memory_info() for _ in self.get_inputs()]

    def get_output_memory_infos(self):
        """Where each output is."""
        return [_cpu_memory_info() for _ in self.get_outputs()]

    def get_input_epdevices(self):
        """The device of the provider that takes each input."""
        return [OrtEpDevice() for _ in self.get_inputs()]

    def get_provider_graph_assignment_info(self):
        """The nodes that run, each by itself; where session.record_ep_graph_assignment_info is "1"."""
        key = "session.record_ep_graph_assignment_info"
        try:
            asked = self._options.get_session_config_entry(key)
        except RuntimeError:  # there is no such entry
            asked = ""
        if asked != "1":
            raise Fail(
                "[sardonyx] : 1 : FAIL : Session configuration entry '%s' must be set to \"1\" to retrieve EP graph "
                "assignment information." % key
            )
        return [OrtEpAssignedSubgraph([OrtEpAssignedNode(name, domain, op)]) for name, domain, op in self._nodes()]

    def get_tuning_results(self):
        """Nothing is tuned on the CPU."""
        return []

    def set_tuning_results(self, results, *, error_on_invalid=False):
        """Passed over, or an error where `error_on_invalid`: no provider here takes any."""
        for index, result in enumerate(results if error_on_invalid else ()):
            raise Fail(
                "[sardonyx] : 1 : FAIL : Failed to load TuningResults (index=%d). Reason: Cannot find execution "
                "provider %s" % (index, result.get("ep"))
            )

    def set_ep_dynamic_options(self, options):
        """Accepted for compatibility: the CPU's provider has none."""
        if not options:
            raise InvalidArgument("set_ep_dynamic_options: expected at least one option")

    @property
    def _sess(self):
        from .capi._pybind_state import SessionOfNames

        return SessionOfNames(self)

    def disable_fallback(self):
        """Accepted for compatibility: there is nothing to fall back from."""

    def enable_fallback(self):
        """Accepted for compatibility: there is nothing to fall back from."""

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """Runs in a thread of its own, then calls callback(results, user_data, error): error is "" where it went well."""

        def work():
            try:
                results, error = self.run(output_names, input_feed, run_options), ""
            except Exception as failure:  # reported, not raised: nobody waits here
                results, error = [], str(failure)
            callback(results, user_data, error)

        threading.Thread(target=work, daemon=False).start()

    def run_with_ortvaluevector(self, run_options, feed_names, feeds, fetch_names, fetches, fetch_devices=None):
        """Runs with OrtValues by position; `fetches` then holds the results, in the order of fetch_names.

        An OrtValue that stands in `fetches` before is written into: its type and shape must be the output's.
        """
        feed_names, feeds, fetch_names = list(feed_names), list(feeds), list(fetch_names)
        if len(feed_names) != len(feeds):
            raise InvalidArgument(
                "run_with_ortvaluevector: %d names for %d feeds" % (len(feed_names), len(feeds))
            )
        if len(fetches) not in (0, len(fetch_names)):
            raise InvalidArgument(
                "run_with_ortvaluevector: expected no fetches or one for each of %d names, got %d"
                % (len(fetch_names), len(fetches))
            )
        binding = _sardonyx.SessionIOBinding(self)
        for name, value in zip(feed_names, feeds):
            binding.bind_value(name, value)
        for name, value in zip(fetch_names, fetches or [None] * len(fetch_names)):
            if value is None:
                binding.leave_output(name)
            else:
                binding.bind_output(name, value)
        binding.run(run_options)
        fetches[:] = binding.outputs()

    def io_binding(self):
        """An IOBinding of this session."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding, run_options=None):
        """Runs with what is bound; results go where the outputs are bound."""
        if iobinding._session is not self:
            raise InvalidArgument("run_with_iobinding: the binding is that of another session: use its own, from io_binding()")
        iobinding._binding.run(run_options)


class IOBinding:
    """Inputs and outputs of a session that are bound once and run many times."""

    def __init__(self, session):
        self._session = session
        self._binding = _sardonyx.SessionIOBinding(session)

    def bind_cpu_input(self, name, arr_on_cpu):
        """Binds an array (a list for a sequence, a dict for a map), which is not copied."""
        self._binding.bind_array(name, arr_on_cpu)

    @property
    def _iobinding(self):
        from .capi._pybind_state import SessionIOBinding

        return SessionIOBinding(self)

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        """Binds the memory at the address buffer_ptr; element_type is a NumPy type or a number of TensorProto.DataType."""
        self._binding.bind_value(name, _memory(device_type, element_type, shape, buffer_ptr))

    def bind_ortvalue_input(self, name, ortvalue):
        self._binding.bind_value(name, ortvalue)

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        """Binds the memory at the address buffer_ptr, of the output's type and shape, or leaves it to the library."""
        if buffer_ptr is None:
            if device_type != "cpu":
                raise NotImplemented("device \"%s\": there is \"cpu\" alone" % device_type)
            self._binding.leave_output(name)
        else:
            self._binding.bind_output(name, _memory(device_type, element_type, shape, buffer_ptr))

    def bind_ortvalue_output(self, name, ortvalue):
        """Runs write the output into the value's memory, whose type and shape must be the output's."""
        self._binding.bind_output(name, ortvalue)

    def synchronize_inputs(self):
        """Nothing to wait for on the CPU."""

    def synchronize_outputs(self):
        """Nothing to wait for on the CPU."""

    def get_outputs(self):
        """The results as OrtValues, in the order in which the outputs were bound."""
        return self._binding.outputs()

    def get_outputs_as_ortvaluevector(self):
        return OrtValueVector(self._binding.outputs())

    def copy_outputs_to_cpu(self):
        """The results as arrays."""
        return self._binding.arrays()

    def get_output_names(self):
        return self._binding.output_names()

    def clear_binding_inputs(self):
        self._binding.clear_inputs()

    def clear_binding_outputs(self):
        self._binding.clear_outputs()


def _memory(device_type, element_type, shape, buffer_ptr):
    """An OrtValue over foreign memory."""
    import ctypes

    import numpy

    if device_type != "cpu":
        raise NotImplemented("device \"%s\": there is \"cpu\" alone" % device_type)
    if element_type is None or shape is None:
        raise ValueError("`element_type` and `shape` are to be provided if pre-allocated memory is provided")
    is_number = isinstance(element_type, int)
    if is_number:
        bytes_of_one = OrtValue.ortvalue_from_shape_and_type([1], element_type).tensor_size_in_bytes()
        dtype = numpy.dtype("u%d" % bytes_of_one)
    else:
        dtype = numpy.dtype(element_type)
    size = dtype.itemsize
    for dim in shape:
        if dim < 0:
            raise InvalidArgument("shape: dimension is %d" % dim)
        size *= dim
    if size == 0:
        array = numpy.empty(shape, dtype)
    else:
        array = numpy.frombuffer((ctypes.c_byte * size).from_address(buffer_ptr), dtype).reshape(shape)
    if is_number:
        return OrtValue.ortvalue_from_numpy_with_onnx_type(array, element_type)
    return OrtValue.ortvalue_from_numpy(array)
