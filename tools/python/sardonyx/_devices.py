"""Names of onnxruntime about providers, their devices and vectors of values, where there is the CPU alone."""
import enum

from ._memory import cpu_memory_info
from ._sardonyx import InvalidArgument, NotImplemented, OrtValue


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

    def to_dlpacks(self, to_tensor):
        """A capsule of each, or what `to_tensor` makes of it."""
        capsules = [value.to_dlpack() for value in self]
        return capsules if to_tensor is None else [to_tensor(capsule) for capsule in capsules]


def copy_tensors(src, dst, stream=None):
    """Writes the elements of each OrtValue of `src` into the memory of the one of `dst`; types and shapes must fit."""
    src, dst = list(src), list(dst)
    if stream is not None:
        raise NotImplemented("copy_tensors: there are no streams on the CPU")
    if len(src) != len(dst):
        raise InvalidArgument("copy_tensors: %d sources for %d targets" % (len(src), len(dst)))
    for source, target in zip(src, dst):
        OrtValue._copy(target, source)


class OrtHardwareDeviceType(enum.IntEnum):
    """Kinds of devices that providers run on."""

    CPU = 0
    GPU = 1
    NPU = 2


class OrtHardwareDevice:
    """The CPU."""

    type, vendor, vendor_id, device_id = OrtHardwareDeviceType.CPU, "", 0, 0

    @property
    def metadata(self):
        return {}


class OrtEpDevice:
    """What the provider of the CPU runs on."""

    ep_name, ep_vendor = "CPUExecutionProvider", "Microsoft"
    device = OrtHardwareDevice()

    @property
    def ep_metadata(self):
        return {}

    @property
    def ep_options(self):
        return {}

    def memory_info(self, memory_type):
        return cpu_memory_info()


class OrtEpAssignedNode:
    """A node and the provider that runs it: name, domain, op_type."""

    def __init__(self, name, domain, op_type):
        self.name, self.domain, self.op_type = name, domain, op_type


class OrtEpAssignedSubgraph:
    """Nodes that a provider runs together."""

    ep_name = "CPUExecutionProvider"

    def __init__(self, nodes):
        self._nodes = nodes

    def get_nodes(self):
        return list(self._nodes)


class OrtCompileApiFlags(enum.IntFlag):
    """Of ModelCompiler."""

    NONE = 0
    ERROR_IF_NO_NODES_COMPILED = 1
    ERROR_IF_OUTPUT_FILE_EXISTS = 2


def get_ep_devices():
    """The devices of all providers: that of the CPU's."""
    return [OrtEpDevice()]


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


_NO_LIBRARIES = "there is the CPU alone, and no provider can be loaded"
register_execution_provider_library = _refusing("register_execution_provider_library", _NO_LIBRARIES)
unregister_execution_provider_library = _refusing("unregister_execution_provider_library", _NO_LIBRARIES)
