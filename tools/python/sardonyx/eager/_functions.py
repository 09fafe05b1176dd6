"""Functions of torch.nn.functional that are made of others here, and their layers."""
import numpy as _numpy

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


def _max_pool(rank):
    plain, indexed = getattr(_nn, f"max_pool{rank}d"), getattr(_nn, f"max_pool{rank}d_with_indices")

    def max_pool(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        """The greatest of each window; with return_indices a pair, of them and of their places in the channel."""
        return (indexed if return_indices else plain)(input, kernel_size, stride, padding, dilation, ceil_mode)

    max_pool.__name__ = max_pool.__qualname__ = f"max_pool{rank}d"
    return max_pool


max_pool1d, max_pool2d, max_pool3d = _max_pool(1), _max_pool(2), _max_pool(3)


def _give_indices(layer, indexed):
    """Makes forward() of a max pool look at what it was made with."""
    plain = layer.forward

    def forward(self, input):
        _, args, kwargs = self.__dict__["_made_with"]
        if not (args[4] if len(args) > 4 else kwargs.get("return_indices", False)):
            return plain(self, input)
        sizes = (self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)
        return indexed(input, *sizes)

    layer.forward = forward


_give_indices(_nn.MaxPool1d, _nn.max_pool1d_with_indices)
_give_indices(_nn.MaxPool2d, _nn.max_pool2d_with_indices)
_give_indices(_nn.MaxPool3d, _nn.max_pool3d_with_indices)


class _MaxUnpool(Module):
    """Zeros but for the elements at the places that a max pool with return_indices gave."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, kernel_size if stride is None else stride, padding

    def forward(self, input, indices, output_size=None):
        return self._unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    _unpool = staticmethod(_nn.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    _unpool = staticmethod(_nn.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    _unpool = staticmethod(_nn.max_unpool3d)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """max(0, distance(anchor, positive) - distance(anchor, negative) + margin), of a distance of rows."""
    distance = _nn.pairwise_distance if distance_function is None else distance_function
    apart = distance(anchor, negative)
    if swap:
        apart = apart.minimum(distance(positive, negative))
    losses = (distance(anchor, positive) - apart + margin).relu()
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"triplet_margin_with_distance_loss: reduction: expected mean, sum or none, got {reduction}")
    return losses if reduction == "none" else getattr(losses, reduction)()


class TripletMarginWithDistanceLoss(Module):
    """triplet_margin_with_distance_loss() as a layer."""

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__()
        self.distance_function, self.margin, self.swap, self.reduction = distance_function, margin, swap, reduction

    def forward(self, anchor, positive, negative):
        options = {name: getattr(self, name) for name in ("distance_function", "margin", "swap", "reduction")}
        return triplet_margin_with_distance_loss(anchor, positive, negative, **options)


# torch has these of torch.nn.functional without the module as well, with the same arguments.
without_module = {
    name: globals().get(name) or getattr(_nn, name)
    for name in (
        "adaptive_avg_pool1d avg_pool1d channel_shuffle conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
        "bilinear conv_transpose3d cosine_similarity embedding_bag group_norm layer_norm max_pool1d max_pool2d "
        "max_pool3d pairwise_distance pixel_shuffle pixel_unshuffle rrelu"
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


# What a type may become without losing its kind.
_KINDS = {"b": 0, "u": 1, "i": 1, "f": 2}


def _kind_of(dtype):
    kind = dtype.numpy.kind if hasattr(dtype.numpy, "kind") else _numpy.dtype(dtype.numpy).kind
    return _KINDS.get(kind, 2)  # float types that NumPy lacks


def can_cast(from_, to):
    """Whether torch's promotion lets `from_` become `to`: never a fraction an integer, or a number a bool."""
    return _kind_of(from_) <= _kind_of(to)


def is_complex(input):
    """False: complex tensors are pairs in a last axis."""
    return False
