"""Names of execution providers, of which the CPU's alone is there."""
import collections.abc
import warnings

_CPU = "CPUExecutionProvider"
# Those that programs may name, in onnxruntime's order of preference.
_KNOWN = """NvTensorRTRTX Tensorrt CUDA MIGraphX OpenVINO Dnnl VitisAI QNN Nnapi VSINPU Js CoreML ArmNN ACL Dml Rknpu WebNN
WebGpu Xnnpack CANN Azure CPU"""


def get_available_providers():
    """The execution providers that a session can have."""
    return [_CPU]


def get_all_providers():
    """All that onnxruntime knows, the most preferred first; the last one is the CPU's."""
    return [name + "ExecutionProvider" for name in _KNOWN.split()]


def _is_pair(provider):
    return (
        isinstance(provider, (tuple, list))
        and len(provider) == 2
        and isinstance(provider[0], str)
        and isinstance(provider[1], dict)
    )


def _pairs(providers, provider_options):
    if not isinstance(providers, collections.abc.Sequence):
        raise ValueError("'providers' should be a sequence.")
    if provider_options is None:
        if not all(isinstance(provider, str) or _is_pair(provider) for provider in providers):
            raise ValueError("'providers' values must be either strings or (string, dict) tuples.")
        return [(provider, {}) if isinstance(provider, str) else tuple(provider) for provider in providers]
    if not isinstance(provider_options, collections.abc.Sequence):
        raise ValueError("'provider_options' should be a sequence.")
    if len(providers) != len(provider_options):
        raise ValueError("'providers' and 'provider_options' should be the same length if both are given.")
    if not all(isinstance(provider, str) for provider in providers):
        raise ValueError("Only string values for 'providers' are supported if 'provider_options' is given.")
    if not all(isinstance(options, dict) for options in provider_options):
        raise ValueError("'provider_options' values must be dicts.")
    return list(zip(providers, provider_options))


def check_and_normalize_provider_args(providers, provider_options, available_provider_names):
    """The names, each once, and a dict of texts for each. Raises ValueError where an argument is of the wrong kind;
    warns of names that are not available or come again.
    """
    if providers is None:
        return [], []
    found = {}
    for name, options in _pairs(providers, provider_options):
        if name not in available_provider_names:
            warnings.warn(
                "Specified provider '%s' is not in available provider names. Available providers: '%s'"
                % (name, ", ".join(available_provider_names))
            )
        if name in found:
            warnings.warn("Duplicate provider '%s' encountered, ignoring." % name)
        else:
            found[name] = {str(key): str(value) for key, value in options.items()}
    return list(found), list(found.values())
