"""SessionOptions with the names of onnxruntime about providers, where there is the CPU alone."""
import enum

from . import _sardonyx
from ._devices import OrtEpDevice, get_ep_devices
from ._sardonyx import Fail, InvalidArgument


class OrtExecutionProviderDevicePolicy(enum.Enum):
    """Which devices are preferred. All choose the CPU."""

    DEFAULT = 0
    PREFER_CPU = 1
    PREFER_NPU = 2
    PREFER_GPU = 3
    MAX_PERFORMANCE = 4
    MAX_EFFICIENCY = 5
    MIN_OVERALL_POWER = 6


class SessionOptions(_sardonyx.SessionOptions):
    """What an InferenceSession is made with."""

    __slots__ = ("_chooses", "_delegate")  # any other name is an error

    def __init__(self, *others):
        super().__init__(*others)
        self._chooses, self._delegate = False, None
        for other in others:
            self._chooses = getattr(other, "_chooses", False)
            self._delegate = getattr(other, "_delegate", None)

    def add_provider(self, name, options=None):
        """Options of the CPU's provider are passed over: it has none."""
        if name != OrtEpDevice.ep_name:
            raise InvalidArgument("add_provider: %s is not there; there is %s alone" % (name, OrtEpDevice.ep_name))
        self._chooses = True

    def add_provider_for_devices(self, ep_devices, provider_options=None):
        """ep_devices: of one provider, from get_ep_devices()."""
        if not ep_devices:
            raise InvalidArgument("add_provider_for_devices: expected at least one device")
        for device in ep_devices:
            self.add_provider(device.ep_name)

    def set_provider_selection_policy(self, policy):
        """policy: an OrtExecutionProviderDevicePolicy."""
        if not isinstance(policy, OrtExecutionProviderDevicePolicy):
            raise TypeError("set_provider_selection_policy: expected an OrtExecutionProviderDevicePolicy")
        self._chooses = True

    def set_provider_selection_policy_delegate(self, delegate):
        """delegate(ep_devices, model_metadata, runtime_metadata, max_selections) gives the devices to use, when a
        session is made."""
        if not callable(delegate):
            raise TypeError("set_provider_selection_policy_delegate: expected a function")
        self._chooses, self._delegate = True, delegate

    def has_providers(self):
        """Were providers chosen, or a policy that chooses them?"""
        return self._chooses


_MOST_DEVICES = 8  # that one session uses


def select_devices(options, get_metadata):
    """Asks the function of `options`, where there is one. get_metadata: gives a session's ModelMetadata."""
    delegate = getattr(options, "_delegate", None)
    if delegate is None:
        return
    metadata = get_metadata()
    told = {name: str(getattr(metadata, name)) for name in ("producer_name", "domain", "graph_name", "version")}
    told.update(metadata.custom_metadata_map)
    try:
        chosen = list(delegate(get_ep_devices(), told, {}, _MOST_DEVICES))
    except Exception as failure:
        raise Fail("[sardonyx] : 1 : FAIL : EP selection delegate failed: %s" % failure) from failure
    if not chosen or not all(isinstance(device, OrtEpDevice) for device in chosen):
        raise Fail("[sardonyx] : 1 : FAIL : EP selection delegate: expected devices of those it was given")
