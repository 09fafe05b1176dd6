"""Jacobians, Hessians and their products with vectors, as torch.autograd.functional has them.

Functions take and give one tensor or a tuple of them, and results are nested as torch nests them.
"""
import functools

from .. import _sardonyx
from .._sardonyx.eager import Tensor

_eager = _sardonyx.eager


def _recorded(function):
    """What tracks its steps within no_grad() too: derivatives are what it is called for."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        with _eager.enable_grad():
            return function(*args, **kwargs)

    return call


def _tensors(given, what):
    tensors = (given,) if isinstance(given, Tensor) else given
    if not isinstance(tensors, (tuple, list)) or not all(isinstance(one, Tensor) for one in tensors):
        raise TypeError(f"{what}: expected a tensor or a tuple of tensors, got {type(given).__name__}")
    return tuple(tensors)


def _like(given, found):
    return found[0] if isinstance(given, Tensor) else tuple(found)


def _tracked(inputs, create_graph):
    """Inputs of their own, so that nothing else of the program is differentiated; with a graph the way back stays."""
    return [x + 0 if create_graph and x.requires_grad else x.detach().requires_grad_() for x in inputs]


def _called(func, inputs, create_graph, title):
    """(inputs as tracked, what func gives for them, the same as a tuple)."""
    own = _tracked(_tensors(inputs, f"{title}: inputs"), create_graph)
    given = func(*own)
    return own, given, _tensors(given, f"{title}: outputs of the function")


def _vectors(v, like, title):
    """`v` checked against the tensors that it goes with; ones for a single element where it is left out."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"{title}: v may be left out where it goes with one element alone")
        return [_eager.ones_like(like[0])]
    vectors = _tensors(v, f"{title}: v")
    if [tuple(x.shape) for x in vectors] != [tuple(x.shape) for x in like]:
        shapes = [[list(x.shape) for x in part] for part in (like, vectors)]
        raise RuntimeError(f"{title}: v: expected tensors of shapes {shapes[0]}, got {shapes[1]}")
    return list(vectors)


def _gradients(outputs, inputs, vectors, create_graph, strict, title):
    """d(outputs * vectors)/d(inputs): zeros for what the outputs don't depend on, which `strict` refuses."""
    kept = [(out, v) for out, v in zip(outputs, vectors) if out.requires_grad]
    found = [None] * len(inputs)
    if kept:
        found = _eager.grad(
            [out for out, _ in kept],
            inputs,
            [v for _, v in kept],
            retain_graph=True,
            create_graph=create_graph,
            allow_unused=True,
        )
    if strict and any(one is None for one in found):
        place = [one is None for one in found].index(True)
        raise RuntimeError(f"{title}: the outputs don't depend on input {place}; strict=False gives zeros")
    return [_eager.zeros_like(x) if one is None else one for one, x in zip(found, inputs)]


def _released(tensors, create_graph):
    return list(tensors) if create_graph else [x.detach() for x in tensors]


def _rows(output, inputs, create_graph, strict):
    """The Jacobian [output's shape..., input's shape...] for each input."""
    flat, rows = output.reshape(-1), []
    for place in range(flat.numel()):
        part = flat[place]
        rows.append(_gradients([part], inputs, [_eager.ones_like(part)], create_graph, strict, "jacobian"))
    if not rows:
        return [_eager.zeros(*output.shape, *x.shape, dtype=x.dtype) for x in inputs]
    shapes = [(*output.shape, *x.shape) for x in inputs]
    return [_eager.stack(list(column)).reshape(shape) for column, shape in zip(zip(*rows), shapes)]


@_recorded
def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """d(outputs)/d(inputs): a tensor, or tuples by output, then by input, where these are tuples.

    One backward pass for each element of the outputs; `vectorize` and `strategy` are accepted for compatibility.
    """
    own, given, outputs = _called(func, inputs, create_graph, "jacobian")
    found = [_like(inputs, _released(_rows(out, own, create_graph, strict), create_graph)) for out in outputs]
    return _like(given, found)


@_recorded
def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """Second derivatives of a function whose result has one element: a tensor, or a tuple of tuples."""

    def gradient(*own):
        loss = func(*own)
        if not isinstance(loss, Tensor) or loss.numel() != 1:
            raise RuntimeError("hessian: expected a function whose result is one tensor of one element")
        found = _gradients([loss], own, [_eager.ones_like(loss)], True, strict, "hessian")
        return _like(inputs, found)

    return jacobian(gradient, inputs, create_graph, strict)


@_recorded
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), the product of v with the Jacobian for each input)."""
    own, given, outputs = _called(func, inputs, create_graph, "vjp")
    vectors = _vectors(v, outputs, "vjp")
    found = _gradients(outputs, own, vectors, create_graph, strict, "vjp")
    return _like(given, _released(outputs, create_graph)), _like(inputs, _released(found, create_graph))


@_recorded
def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), the product of the Jacobian with v for each output)."""
    own, given, outputs = _called(func, inputs, create_graph, "jvp")
    vectors = _vectors(v, own, "jvp")
    # vJ is linear in v: its derivative by v, times the vectors, is what is asked for.
    unknown = [_eager.zeros_like(out).requires_grad_() for out in outputs]
    backward = _gradients(outputs, own, unknown, True, strict, "jvp")
    found = _gradients(backward, unknown, vectors, create_graph, False, "jvp")
    return _like(given, _released(outputs, create_graph)), _like(given, _released(found, create_graph))


def _hessian_product(func, inputs, v, create_graph, strict, title):
    own, given, outputs = _called(func, inputs, create_graph, title)
    if len(outputs) != 1 or outputs[0].numel() != 1:
        raise RuntimeError(f"{title}: expected a function whose result is one tensor of one element")
    vectors = _vectors(v, own, title)
    gradient = _gradients(outputs, own, [_eager.ones_like(outputs[0])], True, strict, title)
    found = _gradients(gradient, own, vectors, create_graph, strict, title)
    return _like(given, _released(outputs, create_graph)), _like(inputs, _released(found, create_graph))


@_recorded
def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), the product of v with the Hessian) of a function whose result has one element."""
    return _hessian_product(func, inputs, v, create_graph, strict, "vhp")


@_recorded
def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), the product of the Hessian with v): vhp's, as Hessians are symmetric."""
    return _hessian_product(func, inputs, v, create_graph, strict, "hvp")
