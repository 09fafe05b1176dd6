"""Attributes of torch's tensors, copies and pickles."""
import weakref

from .._sardonyx.eager import DType, Tensor, _bytes_of, _tensor_of_bytes, linalg, tensor
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


# Element types as Tensor.type() calls them, under torch's names.
_KINDS = {
    "float": "Float",
    "double": "Double",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "int64": "Long",
    "int32": "Int",
    "int16": "Short",
    "int8": "Char",
    "uint8": "Byte",
    "bool": "Bool",
}


def _dtype_called(name):
    kind = name.rpartition(".")[2]
    for dtype, one in _KINDS.items():
        if kind == one + "Tensor":
            return DType.__members__[dtype]
    return name  # "float32" and NumPy's other names


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

    def type(self, dtype=None, non_blocking=False):
        """The name of the element type ("torch.FloatTensor"), or the tensor in another type."""
        if dtype is None:
            return f"torch.{_KINDS.get(self.dtype.name, self.dtype.name)}Tensor"
        return self.to(_dtype_called(dtype) if isinstance(dtype, str) else dtype)

    def stride(self, dim=None):
        """Elements from one index to the next of each axis: values are dense."""
        strides, step = [], 1
        for size in reversed(self.shape):
            strides.append(step)
            step = step * (size if not isinstance(size, int) else max(size, 1))
        return tuple(reversed(strides)) if dim is None else tuple(reversed(strides))[dim]

    def is_contiguous(self, memory_format=None):
        return True

    def ndimension(self):
        return self.ndim

    def is_nonzero(self):
        return bool(self)

    def is_signed(self):
        return self.is_floating_point() or not (self.dtype.name.startswith("uint") or self.dtype == DType.bool)

    def det(self):
        return linalg.det(self)

    def inverse(self):
        return linalg.inv(self)

    def logdet(self):
        from . import logdet

        return logdet(self)

    def slogdet(self):
        return linalg.slogdet(self)

    def pinverse(self):
        return linalg.pinv(self)

    def matrix_exp(self):
        return linalg.matrix_exp(self)

    def split_with_sizes(self, split_sizes, dim=0):
        return self.split(split_sizes, dim)

    def sum_to_size(self, *size):
        """Summed over the axes along which a tensor of this size would be repeated."""
        wanted = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
        more = self.ndim - len(wanted)
        axes = [axis for axis in range(self.ndim) if axis < more or (wanted[axis - more] == 1 and self.shape[axis] != 1)]
        return (self.sum(axes, True) if axes else self).reshape(wanted)

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
