"""Attributes of torch's tensors, copies and pickles."""
import weakref

from .._sardonyx.eager import DType, Tensor, _bytes_of, _tensor_of_bytes, tensor
from ._extension import extends


class device:
    """Where tensors are, which is the CPU."""

    def __init__(self, type="cpu", index=None):
        name, _, number = str(type).partition(":")
        if name != "cpu":
            raise ValueError(f"device: expected 'cpu', got {type!r}; there is no other")
        self.type, self.index = name, int(number) if number else index

    def __eq__(self, other):
        return str(other).startswith("cpu") if isinstance(other, (str, device)) else NotImplemented

    def __hash__(self):
        return hash(self.type)

    def __str__(self):
        return self.type

    def __repr__(self):
        return f"device(type={self.type!r})"


_handles = weakref.WeakValueDictionary()


def one_handle(value):
    """The same object for all handles of a tensor, so that a pickle of two writes it once."""
    return _handles.setdefault(hash(value), value)


def _with_value(kind, value, requires_grad):
    if kind is not Tensor:
        made = kind.__new__(kind)
        Tensor.__init__(made, value)
        value = made
    if requires_grad:
        value.requires_grad = True
    return value


def _rebuilt(kind, data, dtype, shape, requires_grad):
    is_string = isinstance(data, list)
    value = tensor(data).reshape(shape) if is_string else _tensor_of_bytes(data, DType.__members__[dtype], shape)
    return _with_value(kind, value, requires_grad)


@extends(Tensor)
class _Extended:
    device = property(lambda self: device(), doc="Where it is: the CPU.")
    is_cuda = property(lambda self: False)
    itemsize = property(lambda self: self.element_size())

    @property
    def data(self):
        """The value, cut from what it was computed from. Assigning gives the tensor another value."""
        return self.detach()

    @data.setter
    def data(self, value):
        self.assign(value.detach())

    def cpu(self):
        return self

    def is_floating_point(self):
        return self.dtype.name in ("float", "double") or "float" in self.dtype.name

    def nelement(self):
        return self.numel()

    def element_size(self):
        return self.dtype.numpy.itemsize

    def get_device(self):
        return -1

    def new_tensor(self, data, dtype=None, requires_grad=False):
        return tensor(data, dtype=self.dtype if dtype is None else dtype, requires_grad=requires_grad)

    def __contains__(self, value):
        return bool((self == value).any())

    def __pos__(self):
        return self

    def __getattr__(self, name):
        message = f"Tensor has no attribute {name}"
        if name.endswith("_") and not name.startswith("_") and hasattr(Tensor, name[:-1]):
            plain = name[:-1]
            message += f": values are immutable; x = x.{plain}(...), or x.assign(x.{plain}(...)) for all handles of x"
        raise AttributeError(message)

    def __deepcopy__(self, memo):
        if not self.is_leaf:
            raise RuntimeError("deepcopy of a tensor that was computed with gradients: detach() it first")
        key = ("tensor", hash(self))
        if key not in memo:
            memo[key] = made = _with_value(type(self), self.detach().clone(), self.requires_grad)
            if self.grad is not None:
                made.grad = self.grad.detach().clone()
        return memo[key]

    def __reduce_ex__(self, protocol):
        is_string = self.dtype == DType.string
        data = self.reshape(-1).tolist() if is_string else _bytes_of(self)
        return _rebuilt, (type(self), data, self.dtype.name, tuple(self.shape), self.requires_grad)
