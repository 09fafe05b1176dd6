"""Where onnxruntime's own classes in Python are."""
from .. import (  # noqa: F401
    AdapterFormat,
    IOBinding,
    InferenceSession,
    ModelCompiler,
    OrtDevice,
    OrtValue,
    SparseTensor,
    copy_tensors,
)
from .._providers import check_and_normalize_provider_args  # noqa: F401

Session = InferenceSession
