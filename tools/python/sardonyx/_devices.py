"""Names of onnxruntime about providers, their devices and vectors of values, where there is the CPU alone."""
import enum
import os

from ._memory import cpu_memory_info
from ._sardonyx import InvalidArgument, NoSuchFile, NotImplemented, OrtValue, _cpu, _metadata_prop


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

    type = OrtHardwareDeviceType.CPU
    vendor, vendor_id, device_id = _cpu()

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


def get_hardware_devices():
    """The devices that providers could run on: the CPU."""
    return [OrtHardwareDevice()]


class OrtCompiledModelCompatibility(enum.Enum):
    """Whether what was compiled for a provider suits it."""

    EP_NOT_APPLICABLE = 0
    EP_SUPPORTED_OPTIMAL = 1
    EP_SUPPORTED_PREFER_RECOMPILATION = 2
    EP_UNSUPPORTED = 3


class OrtDeviceEpIncompatibilityReason(enum.IntFlag):
    """Why a device does not suit a provider."""

    NONE = 0
    DRIVER_INCOMPATIBLE = 1
    DEVICE_INCOMPATIBLE = 2
    MISSING_DEPENDENCY = 4
    UNKNOWN = -(1 << 31)


def get_model_compatibility_for_ep_devices(ep_devices, compatibility_info):
    """The CPU's provider takes any model and has no say about compiled ones."""
    if not isinstance(compatibility_info, str):
        raise TypeError("compatibility_info: expected str, got %s" % type(compatibility_info).__name__)
    if not ep_devices:
        raise InvalidArgument("get_model_compatibility_for_ep_devices: expected at least one device")
    return OrtCompiledModelCompatibility.EP_NOT_APPLICABLE


def get_hardware_device_ep_incompatibility_details(ep_name, hw):
    """What keeps the device from the provider: nothing ever keeps the CPU from its own."""
    if ep_name != OrtEpDevice.ep_name:
        raise InvalidArgument("ep_name: expected %r, got %r" % (OrtEpDevice.ep_name, ep_name))
    return {"reasons_bitmask": int(OrtDeviceEpIncompatibilityReason.NONE), "notes": None, "error_code": 0}


def _compatibility_info(model, ep_type):
    if not model or not ep_type:
        raise InvalidArgument("expected a model and the name of a provider")
    return _metadata_prop(model, "ep_compatibility_info." + ep_type)


def get_compatibility_info_from_model(model_path, ep_type):
    """What the provider wrote into the model's metadata; None where it wrote nothing."""
    path = os.fspath(model_path)
    if path and not os.path.exists(path):
        raise NoSuchFile("Load model %s failed. File doesn't exist" % path)
    return _compatibility_info(path, ep_type)


def get_compatibility_info_from_model_bytes(model_bytes, ep_type):
    """The same of a model as bytes."""
    return _compatibility_info(bytes(model_bytes), ep_type)


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
