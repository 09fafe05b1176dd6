"""Modes and functions with gradients of one's own, as torch.autograd has them."""
import functools

from .. import _sardonyx
from .._sardonyx.eager import Tensor, is_grad_enabled

_eager = _sardonyx.eager


class set_grad_enabled:
    """Whether gradients are recorded from now on, in this thread; as `with` or a decorator, for a while."""

    def __init__(self, mode):
        self._mode, self._before = bool(mode), is_grad_enabled()
        _eager._set_grad_enabled(self._mode)

    def __enter__(self):
        _eager._set_grad_enabled(self._mode)

    def __exit__(self, *_):
        _eager._set_grad_enabled(self._before)

    def __call__(self, function):
        self.__exit__()

        @functools.wraps(function)
        def guarded(*args, **kwargs):
            with set_grad_enabled(self._mode):
                return function(*args, **kwargs)

        return guarded


def inference_mode(mode=True):
    """no_grad(), or enable_grad() where `mode` is False."""
    return _eager.no_grad() if mode else _eager.enable_grad()


class FunctionCtx:
    """What a Function's forward leaves for its backward: tensors by save_for_backward, anything as attributes."""

    def __init__(self, needs_input_grad):
        self.needs_input_grad, self.saved_tensors = needs_input_grad, ()

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors):
        """Outputs without gradients: integers and bools never have any, of others backward() gets None."""

    def set_materialize_grads(self, value):
        """Outputs that nobody used give backward() zeros, or None where `value` is False."""
        self._gives_zeros = bool(value)


class Function:
    """A function with a gradient of its own, called by apply():

    forward(ctx, *args) and backward(ctx, *grad_outputs) are static methods; backward gives a gradient, or None, for each
    argument of forward.
    """

    @staticmethod
    def forward(ctx, *args):
        raise NotImplementedError("a Function defines forward(ctx, *args)")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError("a Function defines backward(ctx, *grad_outputs)")

    @classmethod
    def apply(cls, *args):
        places = [place for place, one in enumerate(args) if isinstance(one, Tensor)]
        ctx = FunctionCtx(tuple(isinstance(one, Tensor) and one.requires_grad for one in args))
        single = []

        def forward(*tensors):
            given = list(args)
            for place, tensor in zip(places, tensors):
                given[place] = tensor
            result = cls.forward(ctx, *given)
            single.append(isinstance(result, Tensor))
            return result

        def backward(inputs, outputs, grad_outputs):
            if getattr(ctx, "_gives_zeros", True):
                grad_outputs = [_eager.zeros_like(out) if grad is None else grad for out, grad in zip(outputs, grad_outputs)]
            given = cls.backward(ctx, *grad_outputs)
            given = given if isinstance(given, (tuple, list)) else (given,)
            if len(given) != len(args):
                raise RuntimeError(
                    f"{cls.__name__}.backward: expected a gradient, or None, for each of {len(args)} arguments, got {len(given)}"
                )
            return tuple(given[place] for place in places)

        results = _eager.custom_function(forward, backward, tuple(args[place] for place in places))
        return results[0] if single[-1] else results


def backward(tensors, grad_tensors=None, retain_graph=False, create_graph=False):
    """backward() of each of several tensors."""
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    given = [grad_tensors] if grad_tensors is None or isinstance(grad_tensors, Tensor) else list(grad_tensors)
    given += [None] * (len(tensors) - len(given))
    for place, (tensor, gradient) in enumerate(zip(tensors, given)):
        # What they were computed from they may share.
        is_last = place == len(tensors) - 1
        tensor.backward(gradient, retain_graph=retain_graph or not is_last, create_graph=create_graph)


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True):
    """Whether backward() of func(*inputs) gives what central differences do; inputs with gradients are float64."""
    given = (inputs,) if isinstance(inputs, _sardonyx.eager.Tensor) else tuple(inputs)
    return _sardonyx.eager._gradcheck(func, given, eps, atol, rtol, raise_exception)
