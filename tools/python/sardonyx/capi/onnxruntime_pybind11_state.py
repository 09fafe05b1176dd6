"""The exceptions and the rest, by the module name that programs written for onnxruntime import them from."""
from ._pybind_state import *  # noqa: F401,F403
