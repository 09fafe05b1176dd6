"""Mixed precision, under torch.amp's names."""
from .._sardonyx.eager import DType, _autocast
from .._sardonyx.eager._optim import GradScaler  # noqa: F401


def autocast(device_type="cpu", dtype=None, enabled=True):
    """``with autocast():`` products take float32 inputs as `dtype` (bfloat16 unless given)."""
    if not isinstance(device_type, str):
        device_type, dtype = "cpu", device_type
    return _autocast(DType.bfloat16 if dtype is None else dtype, enabled)
