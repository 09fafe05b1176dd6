"""The backend by the names that onnxruntime's module of this name has."""
from . import (  # noqa: F401
    SardonyxBackend,
    SardonyxBackendRep,
    is_compatible,
    prepare,
    run,
    run_model,
    supports_device,
)

OnnxRuntimeBackend = SardonyxBackend
OnnxRuntimeBackendRep = SardonyxBackendRep
