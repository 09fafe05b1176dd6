"""Functions of torch.nn.functional that are made of others here, and their layers."""
from .. import _sardonyx
from .._sardonyx.eager import _nn
from .._sardonyx.eager._nn import Module

_eager = _sardonyx.eager


def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5
):
    """By the statistics of each sample's channels, which move those given, or by those given alone.

    input [batch, channels, ...].
    """
    if input.ndim < 3:
        raise ValueError(f"instance_norm: input: expected [batch, channels, ...], got shape {list(input.shape)}")
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise ValueError("instance_norm: use_input_stats=False needs running_mean and running_var")
        return _nn.batch_norm(input, running_mean, running_var, weight, bias, eps=eps)
    if running_mean is not None and running_var is not None:
        _move(running_mean, input.detach().mean(list(range(2, input.ndim))), momentum)
        _move(running_var, input.detach().var(list(range(2, input.ndim))), momentum)
    return _nn.group_norm(input, input.shape[1], weight, bias, eps)


def _move(running, of_samples, momentum):
    running.assign((1 - momentum) * running.detach() + momentum * of_samples.mean(0).to(running.dtype))


def _lp_pool(pool, rank, input, norm_type, kernel_size, stride, ceil_mode):
    sizes = [kernel_size] * rank if isinstance(kernel_size, int) else list(kernel_size)
    count = 1
    for size in sizes:
        count *= size
    norm = float(norm_type)
    return (pool(input**norm, kernel_size, stride, ceil_mode=ceil_mode) * count) ** (1 / norm)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The root of the sum of each window's powers of `norm_type`."""
    return _lp_pool(_nn.avg_pool1d, 1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The root of the sum of each window's powers of `norm_type`."""
    return _lp_pool(_nn.avg_pool2d, 2, input, norm_type, kernel_size, stride, ceil_mode)


def _described(layer):
    options = ("norm_type", "kernel_size", "stride", "ceil_mode")
    return ", ".join(f"{name}={getattr(layer, name)}" for name in options)


class LPPool1d(Module):
    """The root of the sum of each window's powers of `norm_type`, along one axis."""

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input):
        return lp_pool1d(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self):
        return _described(self)


class LPPool2d(Module):
    """The root of the sum of each window's powers of `norm_type`, along two axes."""

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input):
        return lp_pool2d(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self):
        return _described(self)


# torch has these of torch.nn.functional without the module as well, with the same arguments.
without_module = {
    name: getattr(_nn, name)
    for name in (
        "adaptive_avg_pool1d avg_pool1d channel_shuffle conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
        "conv_transpose3d cosine_similarity group_norm layer_norm max_pool1d max_pool2d max_pool3d pairwise_distance "
        "pixel_shuffle pixel_unshuffle"
    ).split()
}


def svd(input):
    """(U, S, V) with input = U @ diag(S) @ V.mT: linalg.svd gives V transposed."""
    u, s, vh = _eager.linalg.svd(input)
    return u, s, vh.transpose(-2, -1)


def scalar_tensor(s, dtype=None):
    """A tensor of rank 0."""
    return _eager.full((), s, dtype=_eager.get_default_dtype() if dtype is None else dtype)


def randint_like(input, low, high=None, dtype=None):
    """Integers of [low, high), or [0, low), in a tensor of input's shape and type."""
    low, high = (0, low) if high is None else (low, high)
    return _eager.randint(low, high, tuple(input.shape)).to(input.dtype if dtype is None else dtype)


def is_complex(input):
    """False: complex tensors are pairs in a last axis."""
    return False
