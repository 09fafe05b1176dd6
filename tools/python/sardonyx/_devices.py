"""Names of onnxruntime about devices, memory and extensions, where there is the CPU alone."""
import enum

from ._sardonyx import InvalidArgument, NotImplemented, OrtValue


class OrtDevice:
    """A place of memory; there is the CPU alone."""

    def __init__(self, device_type="cpu", memory_type="default", device_id=0):
        if device_type not in ("cpu", 0):
            raise NotImplemented("OrtDevice: device %r: there is \"cpu\" alone" % (device_type,))
        self._id = int(device_id)

    @staticmethod
    def make(name, device_id=0):
        return OrtDevice(name, "default", device_id)

    @staticmethod
    def cpu():
        return 0

    def device_type(self):
        return "cpu"

    def device_id(self):
        return self._id


class OrtAllocatorType(enum.IntEnum):
    """Kinds of allocators; all memory here comes from pools of sessions."""

    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class OrtMemType(enum.IntEnum):
    """What memory is for; on the CPU all are alike."""

    CPU_INPUT = -2
    CPU_OUTPUT = -1
    CPU = -1
    DEFAULT = 0


class OrtMemoryInfo:
    """Memory of the CPU: name "Cpu", id 0."""

    def __init__(self, name, allocator_type=OrtAllocatorType.ORT_DEVICE_ALLOCATOR, id=0, mem_type=OrtMemType.DEFAULT):
        if name != "Cpu":
            raise NotImplemented("OrtMemoryInfo: memory %r: there is \"Cpu\" alone" % (name,))
        self.name, self.allocator_type = name, OrtAllocatorType(allocator_type)
        self.id, self.mem_type = int(id), OrtMemType(mem_type)


class OrtArenaCfg:
    """How an arena grows: (max_mem, arena_extend_strategy, initial_chunk_size_bytes, max_dead_bytes_per_chunk) in
    bytes, or a dict of these and further names. Checked and kept; SessionOptions.memory_limit is what limits memory.
    """

    _DEFAULTS = {
        "max_mem": 0,
        "arena_extend_strategy": -1,
        "initial_chunk_size_bytes": -1,
        "max_dead_bytes_per_chunk": -1,
        "initial_growth_chunk_size_bytes": -1,
        "max_power_of_two_extend_bytes": -1,
    }

    def __init__(self, *args, **kwargs):
        given = dict(args[0]) if len(args) == 1 and isinstance(args[0], dict) else dict(zip(self._DEFAULTS, args))
        given.update(kwargs)
        unknown = [name for name in given if name not in self._DEFAULTS]
        if unknown:
            raise ValueError("OrtArenaCfg: there is no %r; there are %s" % (unknown[0], ", ".join(self._DEFAULTS)))
        for name, default in self._DEFAULTS.items():
            value = int(given.get(name, default))
            if value < default or (name == "arena_extend_strategy" and value > 1):
                raise InvalidArgument("OrtArenaCfg: %s: %d is no valid value" % (name, value))
            setattr(self, name, value)


def create_and_register_allocator(mem_info, arena_cfg=None):
    """Checks its arguments. Sessions take memory from pools of their own, shared ones make no difference to them."""
    if not isinstance(mem_info, OrtMemoryInfo):
        raise TypeError("create_and_register_allocator: mem_info: expected an OrtMemoryInfo, got %r" % (mem_info,))
    if not isinstance(arena_cfg, (OrtArenaCfg, type(None))):
        raise TypeError("create_and_register_allocator: arena_cfg: expected an OrtArenaCfg, got %r" % (arena_cfg,))


def create_and_register_allocator_v2(provider_type, mem_info, options, arena_cfg=None):
    """The same for a provider, which can be "CPUExecutionProvider"."""
    if provider_type != "CPUExecutionProvider":
        raise NotImplemented("create_and_register_allocator_v2: there is no provider %r" % (provider_type,))
    create_and_register_allocator(mem_info, arena_cfg)


class OrtValueVector(list):
    """A list of OrtValues with the names that onnxruntime's has."""

    push_back = list.append

    def reserve(self, count):
        """Nothing to do."""

    def shrink_to_fit(self):
        """Nothing to do."""

    def element_type_at(self, index):
        """The number of TensorProto.DataType."""
        return self[index].element_type()

    def bool_tensor_indices(self):
        return [index for index, value in enumerate(self) if value.data_type() == "tensor(bool)"]

    def dlpack_at(self, index):
        return self[index].to_dlpack()


def copy_tensors(src, dst, stream=None):
    """Writes the elements of each OrtValue of `src` into the memory of the one of `dst`; types and shapes must fit."""
    src, dst = list(src), list(dst)
    if stream is not None:
        raise NotImplemented("copy_tensors: there are no streams on the CPU")
    if len(src) != len(dst):
        raise InvalidArgument("copy_tensors: %d sources for %d targets" % (len(src), len(dst)))
    for source, target in zip(src, dst):
        OrtValue._copy(target, source)


def preload_dlls(cuda=True, cudnn=True, msvc=True, directory=None):
    """Accepted for compatibility: the package needs no library that is loaded beforehand."""


def has_collective_ops():
    """Whether models may compute on several devices at once: False."""
    return False


def _refusing(name, instead):
    def refuse(*args, **kwargs):
        raise NotImplemented("%s: %s" % (name, instead))

    refuse.__name__ = refuse.__qualname__ = name.split(".")[-1]
    refuse.__doc__ = "Not there: %s." % instead
    return refuse


def _refusing_class(name, instead, *functions):
    members = {function: staticmethod(_refusing("%s.%s" % (name, function), instead)) for function in functions}
    return type(name, (), {"__doc__": "Not there: %s." % instead, "__init__": _refusing(name, instead), **members})


_NO_LIBRARIES = "there is the CPU alone, and no provider can be loaded"
_NO_ADAPTERS = "weights of adapters are no part of a session; SessionOptions.add_initializer replaces weights"
get_ep_devices = _refusing("get_ep_devices", "there is the CPU alone; get_available_providers() names its provider")
register_execution_provider_library = _refusing("register_execution_provider_library", _NO_LIBRARIES)
unregister_execution_provider_library = _refusing("unregister_execution_provider_library", _NO_LIBRARIES)
set_global_thread_pool_sizes = _refusing(
    "set_global_thread_pool_sizes", "set SessionOptions.intra_op_num_threads of each session"
)
AdapterFormat = _refusing_class("AdapterFormat", _NO_ADAPTERS, "read_adapter")
LoraAdapter = _refusing_class("LoraAdapter", _NO_ADAPTERS, "Load")
ModelCompiler = _refusing_class("ModelCompiler", "SessionOptions.optimized_model_filepath writes an optimised model")
SparseTensor = _refusing_class(
    "SparseTensor",
    "sparse values can't be made in Python; give arrays",
    "sparse_coo_from_numpy",
    "sparse_csr_from_numpy",
)
