"""Names of onnxruntime about devices and memory, where there is the CPU alone."""
import enum

from . import _sardonyx
from ._sardonyx import InvalidArgument, NotImplemented


class OrtDeviceVendorId(enum.IntEnum):
    """PCI's numbers of vendors."""

    NONE = 0x0000
    AMD = 0x1002
    NVIDIA = 0x10DE
    ARM = 0x13B5
    MICROSOFT = 0x1414
    HUAWEI = 0x19E5
    QUALCOMM = 0x5143
    INTEL = 0x8086


_CPU, _GPU, _FPGA, _NPU = range(4)
_DEVICES = {  # by name: the type, and the vendor where none is given
    "cpu": (_CPU, OrtDeviceVendorId.NONE),
    "cuda": (_GPU, OrtDeviceVendorId.NVIDIA),
    "dml": (_GPU, OrtDeviceVendorId.MICROSOFT),
    "webgpu": (_GPU, OrtDeviceVendorId.NONE),
    "cann": (_NPU, OrtDeviceVendorId.HUAWEI),
    "gpu": (_GPU, OrtDeviceVendorId.NONE),
    "npu": (_NPU, OrtDeviceVendorId.NONE),
}


class OrtDevice:
    """A place of memory. Values and bindings can be on the CPU alone; others can be named.

    OrtDevice(type, memory_type, id) and OrtDevice(type, memory_type, vendor, id), of numbers; a name of the type
    and "default" serve as well.
    """

    def __init__(self, device_type="cpu", memory_type=0, *vendor_and_id, device_id=0):
        if len(vendor_and_id) > 2:
            raise TypeError("OrtDevice: expected a type, a memory type, a vendor and an id")
        if isinstance(device_type, OrtDevice):
            self.__dict__.update(device_type.__dict__)
            return
        if isinstance(device_type, str):
            self._type, vendor = _device_named(device_type)
        else:
            self._type, vendor = int(device_type), OrtDeviceVendorId.NONE
        self._memory_type = 0 if memory_type == "default" else int(memory_type)
        self._id = int(vendor_and_id[-1] if vendor_and_id else device_id)
        self._vendor = int(vendor_and_id[0] if len(vendor_and_id) == 2 else vendor)

    @staticmethod
    def make(ort_device_name, device_id=0, vendor_id=-1):
        """By its name: "cpu", "cuda", "gpu" ..."""
        device_type, vendor = _device_named(ort_device_name)
        return OrtDevice(device_type, 0, vendor if vendor_id < 0 else vendor_id, device_id)

    @staticmethod
    def cpu():
        return _CPU

    @staticmethod
    def gpu():
        return _GPU

    cuda = dml = webgpu = gpu

    @staticmethod
    def fpga():
        return _FPGA

    @staticmethod
    def npu():
        return _NPU

    cann = npu

    @staticmethod
    def default_memory():
        return 0

    def device_type(self):
        """0 CPU, 1 GPU, 2 FPGA, 3 NPU."""
        return self._type

    def device_id(self):
        return self._id

    def device_vendor_id(self):
        """A number of OrtDeviceVendorId."""
        return self._vendor

    def device_mem_type(self):
        return self._memory_type

    vendor_id, mem_type = device_vendor_id, device_mem_type

    def _get_c_device(self):
        return self

    def __repr__(self):
        names = ("CPU", "GPU", "FPGA", "NPU")
        name = names[self._type] if 0 <= self._type < len(names) else self._type
        return "Device:[DeviceType:%s MemoryType:%s VendorId:%s DeviceId:%s]" % (
            name,
            self._memory_type,
            self._vendor,
            self._id,
        )


def _device_named(name):
    known = _DEVICES.get(name.lower())
    if known is None:
        raise RuntimeError("Unsupported device type: " + name)
    return known


class OrtAllocatorType(enum.IntEnum):
    """Kinds of allocators; all memory here is of one kind."""

    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class OrtMemType(enum.IntEnum):
    """What memory is for; on the CPU all are alike."""

    CPU_INPUT = -2
    CPU_OUTPUT = -1
    CPU = -1
    DEFAULT = 0


class OrtDeviceMemoryType(enum.IntEnum):
    """Who can reach the memory of a device."""

    DEFAULT = 0
    HOST_ACCESSIBLE = 5


class OrtMemoryInfoDeviceType(enum.IntEnum):
    """Kinds of devices."""

    CPU = 0
    GPU = 1
    FPGA = 2
    NPU = 3


_MEMORY_NAMES = {
    "Cpu": OrtMemoryInfoDeviceType.CPU,
    "Cuda": OrtMemoryInfoDeviceType.GPU,
    "CudaPinned": OrtMemoryInfoDeviceType.GPU,
    "DML": OrtMemoryInfoDeviceType.GPU,
    "WebGPU_Buffer": OrtMemoryInfoDeviceType.GPU,
    "Cann": OrtMemoryInfoDeviceType.NPU,
}


class OrtMemoryInfo:
    """Where memory is. Sessions have the CPU's alone."""

    def __init__(self, name, allocator_type=OrtAllocatorType.ORT_DEVICE_ALLOCATOR, id=0, mem_type=OrtMemType.DEFAULT):
        if name not in _MEMORY_NAMES:
            raise RuntimeError("Specified device is not supported.")
        self._set(name, _MEMORY_NAMES[name], 0, id, OrtDeviceMemoryType.DEFAULT, 0, allocator_type)
        self.mem_type = OrtMemType(mem_type)

    @staticmethod
    def create_v2(name, device_type, vendor_id, device_id, device_mem_type, alignment, allocator_type):
        """With a name of one's own, and all that is said of a device."""
        info = OrtMemoryInfo.__new__(OrtMemoryInfo)
        info._set(name, device_type, vendor_id, device_id, device_mem_type, alignment, allocator_type)
        info.mem_type = OrtMemType.DEFAULT
        return info

    def _set(self, name, device_type, vendor_id, device_id, device_mem_type, alignment, allocator_type):
        self.name, self.device_id, self.device_vendor_id = name, int(device_id), int(vendor_id)
        self.device_mem_type, self.alignment = OrtDeviceMemoryType(device_mem_type), int(alignment)
        self.allocator_type, self._device_type = OrtAllocatorType(allocator_type), OrtMemoryInfoDeviceType(device_type)

    @property
    def id(self):
        return self.device_id


class OrtArenaCfg:
    """How an arena grows: (max_mem, arena_extend_strategy, initial_chunk_size_bytes, max_dead_bytes_per_chunk) in
    bytes, or a dict of these and further names. max_mem limits what sessions with session.use_env_allocators take
    together (0: no limit); the rest is kept and read back.
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
            raise InvalidArgument(
                "Invalid OrtArenaCfg option: %s; there are %s" % (unknown[0], ", ".join(self._DEFAULTS))
            )
        for name, default in self._DEFAULTS.items():
            setattr(self, name, int(given.get(name, default)))


def create_and_register_allocator(mem_info, arena_cfg=None):
    """From now on sessions with the config entry session.use_env_allocators = "1" take all their memory from one arena,
    which is limited by arena_cfg.max_mem; others have pools of their own, which SessionOptions.memory_limit limits.
    """
    if not isinstance(mem_info, OrtMemoryInfo):
        raise TypeError("create_and_register_allocator: mem_info: expected an OrtMemoryInfo, got %r" % (mem_info,))
    if not isinstance(arena_cfg, (OrtArenaCfg, type(None))):
        raise TypeError("create_and_register_allocator: arena_cfg: expected an OrtArenaCfg, got %r" % (arena_cfg,))
    if mem_info._device_type != OrtMemoryInfoDeviceType.CPU:
        raise InvalidArgument("create_and_register_allocator: there is no memory of %s" % mem_info.name)
    if arena_cfg is not None and arena_cfg.arena_extend_strategy not in (-1, 0, 1):
        raise InvalidArgument("Received invalid value for arena extend strategy. Valid values can be either 0, 1 or -1.")
    _sardonyx._register_arena(max(0, arena_cfg.max_mem) if arena_cfg is not None else 0)


def create_and_register_allocator_v2(provider_type, mem_info, options, arena_cfg=None):
    """The same for a provider, which can be "CPUExecutionProvider"."""
    if provider_type != "CPUExecutionProvider":
        raise NotImplemented("create_and_register_allocator_v2: there is no provider %r" % (provider_type,))
    create_and_register_allocator(mem_info, arena_cfg)


def cpu_memory_info():
    """Of what sessions take and give."""
    return OrtMemoryInfo("Cpu")
