"""Options that a model brings with it, in its metadata: the entry "ort_config", with ORT_LOAD_CONFIG_FROM_MODEL=1."""
import json

from ._sardonyx import ExecutionMode, Fail, GraphOptimizationLevel
from ._session_options import SessionOptions

_KEY = "ort_config"
_NUMBERS = ("intra_op_num_threads", "inter_op_num_threads")
_ENUMS = {"execution_mode": ExecutionMode, "graph_optimization_level": GraphOptimizationLevel}


def options_in_model(metadata, options):
    """A new SessionOptions as the model has it; `options` where it has none. Raises Fail where it is not well formed."""
    written = metadata.custom_metadata_map.get(_KEY)
    if written is None:
        return options
    try:
        given = json.loads(written)["session_options"]
    except (ValueError, KeyError, TypeError):
        raise Fail("%s in the model's metadata: expected {\"session_options\": {...}}, got %s" % (_KEY, written)) from None
    made = SessionOptions()
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise Fail("%s in the model's metadata: %s: expected a number, got %r" % (_KEY, name, value))
        if name in _NUMBERS:
            setattr(made, name, value)
        elif name in _ENUMS:
            setattr(made, name, _ENUMS[name](value))
        elif name == "enable_profiling":
            made.enable_profiling = value == 1
    return made
