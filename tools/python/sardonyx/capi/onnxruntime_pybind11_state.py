"""The exceptions, by the module name that programs written for onnxruntime import them from."""
from .._devices import OrtArenaCfg, OrtDevice, OrtMemoryInfo, OrtValueVector  # noqa: F401
from .._sardonyx import (  # noqa: F401
    EPFail,
    EngineError,
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    ModelLoadCanceled,
    ModelLoaded,
    ModelRequiresCompilation,
    NoModel,
    NoSuchFile,
    NotFound,
    NotImplemented,
    OrtValue,
    RunOptions,
    RuntimeException,
    SessionOptions,
)
