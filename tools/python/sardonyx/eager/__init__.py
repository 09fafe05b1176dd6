"""Tensors that compute at once, with gradients, modules and optimisers; and the way from them to .onnx files.

Names and arguments are torch's where the meaning is the same::

    from sardonyx import eager
    from sardonyx.eager import nn, optim

    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = optim.Adam(net.parameters(), lr=1e-2)
    loss = nn.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    eager.export_onnx(net, (x,), "net.onnx", input_names=["x"], dynamic_axes={"x": {0: "batch"}})

Values of tensors are immutable: there are no functions that write in place but ``Tensor.assign``.
"""
import functools
import os
import shutil
import sys
import tempfile
import types
import weakref

import numpy

from .. import _sardonyx
from .._sardonyx.eager import *  # noqa: F401,F403
from .._sardonyx.eager import DType, Tensor, _Compiled, _cond, _export, _ExportOptions, _load, _save, _while_loop
from . import _autograd, _derivatives, amp, func, nn, op, optim  # noqa: F401
from ._autograd import inference_mode, set_grad_enabled  # noqa: F401
from ._functions import (  # noqa: F401
    can_cast,
    is_complex,
    randint_like,
    scalar_tensor,
    svd,
    without_module as _without_module,
)
from ._tensor import device  # noqa: F401
from .amp import autocast  # noqa: F401
from .func import vmap  # noqa: F401

for _name, _dtype in DType.__members__.items():
    globals()[_name] = _dtype
float16, bfloat16, float32, float64 = (DType.__members__[n] for n in ("float16", "bfloat16", "float", "double"))


def _as_decorator(guard):
    """A scope that decorates functions as well."""

    def call(self, function):
        @functools.wraps(function)
        def guarded(*args, **kwargs):
            with type(self)():
                return function(*args, **kwargs)

        return guarded

    guard.__call__ = call


_as_decorator(_sardonyx.eager.no_grad)
_as_decorator(_sardonyx.eager.enable_grad)


# Where torch programs look for it.
autograd = types.ModuleType(f"{__name__}.autograd")
autograd.grad, autograd.backward = _sardonyx.eager.grad, _autograd.backward
autograd.Function = _autograd.Function
autograd.no_grad, autograd.enable_grad = _sardonyx.eager.no_grad, _sardonyx.eager.enable_grad
autograd.set_grad_enabled, autograd.inference_mode = set_grad_enabled, inference_mode
autograd.gradcheck = _autograd.gradcheck
autograd.detect_anomaly = _sardonyx.eager.detect_anomaly
autograd.functional = types.ModuleType(f"{autograd.__name__}.functional")
for _name in ("jacobian", "hessian", "vjp", "jvp", "vhp", "hvp"):
    setattr(autograd.functional, _name, getattr(_derivatives, _name))
sys.modules[autograd.__name__], sys.modules[autograd.functional.__name__] = autograd, autograd.functional


def from_numpy(array):
    """A tensor of an array's elements; a copy, since values of tensors never change."""
    return _sardonyx.eager.tensor(array)


def as_tensor(data, dtype=None):
    """`data` itself where it is a tensor of that type, else tensor(data, dtype)."""
    if not isinstance(data, Tensor):
        return _sardonyx.eager.tensor(data, dtype=dtype)
    return data if dtype is None else data.to(dtype)


def is_tensor(thing):
    return isinstance(thing, Tensor)


def is_floating_point(input):
    return input.is_floating_point()


def numel(input):
    return input.numel()


def is_nonzero(input):
    return bool(input)


def positive(input):
    return input


def row_stack(tensors):
    return _sardonyx.eager.vstack(tensors)


def broadcast_shapes(*shapes):
    """The shape that arrays of these shapes broadcast to."""
    return tuple(numpy.broadcast_shapes(*shapes))


def finfo(type=None):
    """What NumPy says of a floating type: eps, max, min, tiny."""
    return numpy.finfo((get_default_dtype() if type is None else type).numpy)  # noqa: F405


def iinfo(type):
    """What NumPy says of a type of integers: max, min."""
    return numpy.iinfo(type.numpy)


def logdet(input):
    """The logarithm of the determinant of each matrix: NaN where that is below 0."""
    sign, logabsdet = _sardonyx.eager.linalg.slogdet(input)
    return _sardonyx.eager.where(sign < 0, numpy.nan, logabsdet)


hann_window, hamming_window = _sardonyx.eager.fft.hann_window, _sardonyx.eager.fft.hamming_window
# torch has these of torch.linalg under names without the module as well.
det, inverse, pinverse = _sardonyx.eager.linalg.det, _sardonyx.eager.linalg.inv, _sardonyx.eager.linalg.pinv
matrix_exp, slogdet = _sardonyx.eager.linalg.matrix_exp, _sardonyx.eager.linalg.slogdet
cholesky, qr = _sardonyx.eager.linalg.cholesky, _sardonyx.eager.linalg.qr
globals().update(_without_module)


def _flat(result):
    return (result, True) if isinstance(result, Tensor) else (tuple(result), False)


class CompiledFunction:
    """What compile() gives: called like the function, with results like its own."""

    def __init__(self, function, optimization_level, threads, max_traces):
        functools.update_wrapper(self, function, updated=())
        self._function = function
        self._is_single = {}
        # What C++ holds the garbage collector does not see: a reference to itself there would last for ever.
        owner = weakref.ref(self)

        def traced(*inputs):
            self = owner()
            result, self._is_single[len(inputs)] = _flat(self._function(*inputs))
            return result

        self._compiled = _Compiled(traced, optimization_level, threads, max_traces)

    def __call__(self, *inputs):
        results = self._compiled(*inputs)
        return results[0] if self._is_single[len(inputs)] else results

    @property
    def traces(self):
        """How often the function was traced."""
        return self._compiled.traces

    @property
    def trace_log(self):
        """Why, each time."""
        return self._compiled.trace_log

    def plan_text(self):
        """The plan of the last call, one line a step."""
        return self._compiled.plan_text()


def compile(function=None, *, optimization_level=2, threads=0, max_traces=32):
    """`function` traced at its first call and run by the static executor; anew where what the trace depended on differs.

    Arguments and results are tensors. Parameters that it reads are read anew in each call, and those that it assigns
    (optimiser steps, running statistics) are written back, so a whole training step can be compiled.
    """
    if function is None:
        return lambda one: compile(
            one, optimization_level=optimization_level, threads=threads, max_traces=max_traces
        )
    return CompiledFunction(function, optimization_level, threads, max_traces)


def save(obj, f):
    """By the name's end: .safetensors, .npz, or .pt, .pth, .bin, .ckpt, .tar as torch.save writes.

    The first two take named tensors; torch's files dicts, lists and tuples of tensors, numbers, text and None as well.
    `f` may be a file that is open for writing: torch's then.
    """
    if not hasattr(f, "write"):
        return _save(obj, f)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "archive.pt")
        _save(obj, path)
        with open(path, "rb") as written:
            shutil.copyfileobj(written, f)


def load(f, map_location=None, *, weights_only=True):
    """What save() wrote, or torch.save() of states and checkpoints; nothing in the file is executed, weights_only or not."""
    if isinstance(map_location, (str, device)):
        device(map_location)  # refuses all but the CPU
    if not hasattr(f, "read"):
        return _load(f)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "archive.pt")
        with open(path, "wb") as copy:
            shutil.copyfileobj(f, copy)
        return _load(path)


def _axes(given):
    return {
        name: axes if isinstance(axes, dict) else {axis: f"{name}_dim_{axis}" for axis in axes}
        for name, axes in (given or {}).items()
    }


def export_onnx(
    model,
    args,
    path,
    *,
    input_names=(),
    output_names=(),
    dynamic_axes=None,
    opset=None,
    external_data=False,
    metadata=None,
    graph_name="main",
    names=None,
    training_step=False,
    verify=True,
    tolerance=1e-5,
):
    """Traces a module or function on tensors like `args` and writes it to `path`; gives a report as text.

    A module is exported in evaluation mode. The file is loaded, run at several sizes of the open axes and compared
    before it takes its place. `names` ({name: tensor}) says what tensors that a function uses are called.
    With `training_step` they are inputs, and those that the step assigns outputs as NAME.next.
    """
    options = _ExportOptions()
    options.input_names, options.output_names = list(input_names), list(output_names)
    options.dynamic_axes = _axes(dynamic_axes)
    options.opset, options.external_data = opset, external_data
    options.metadata, options.graph_name = dict(metadata or {}), graph_name
    options.training_step, options.verify, options.tolerance = training_step, verify, tolerance
    named = list((names or {}).items())
    examples = (args,) if isinstance(args, Tensor) else tuple(args)
    if not isinstance(model, nn.Module):
        options.names = named
        return _export(model, examples, path, options)
    options.names = named + list(model.named_parameters()) + list(model.named_buffers())
    mode = nn._EvalMode(model)
    try:
        return _export(lambda *inputs: model(*inputs), examples, path, options)
    finally:
        del mode


def cond(predicate, true_fn, false_fn, operands=()):
    """true_fn(*operands) or false_fn(*operands), by a bool tensor of one element; in a trace an If."""
    single = []

    def noted(function):
        def call(*inputs):
            result, is_single = _flat(function(*inputs))
            single.append(is_single)
            return result

        return call

    results = _cond(predicate, noted(true_fn), noted(false_fn), tuple(operands))
    return results[0] if single[0] else results


def while_loop(cond_fn, body_fn, operands):
    """``while cond_fn(*state): state = body_fn(*state)`` from `operands` on; in a trace a Loop."""
    return _while_loop(cond_fn, lambda *state: _flat(body_fn(*state))[0], tuple(operands))
