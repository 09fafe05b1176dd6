"""Functions of functions, under torch.func's names: ``grad``, ``vmap``, ``jacrev``, ``hessian`` ...

Functions take and give floating tensors; of those that differentiate the result is one tensor.
"""
from .._sardonyx.eager import Tensor, _func, grad as _grad


def _numbers(argnums):
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def _of(function, argnums, args, kwargs):
    """`function` by the arguments of these numbers alone, and these."""
    places = _numbers(argnums)

    def inner(*chosen):
        given = list(args)
        for place, value in zip(places, chosen):
            given[place] = value
        return function(*given, **kwargs)

    return inner, [args[place] for place in places]


def _one_or_all(found, argnums):
    return found[0] if isinstance(argnums, int) else tuple(found)


def grad(function, argnums=0, has_aux=False):
    """Gives the gradient of a function whose result has one element, by the arguments of these numbers."""
    both = grad_and_value(function, argnums, has_aux)

    def gradient(*args, **kwargs):
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def grad_and_value(function, argnums=0, has_aux=False):
    """The same, as (gradient, value)."""

    def both(*args, **kwargs):
        inner, chosen = _of(function, argnums, args, kwargs)
        # Tracked copies: what tracks the arguments themselves goes on through them.
        inputs = [x + 0 if x.requires_grad else x.detach().requires_grad_() for x in chosen]
        result = inner(*inputs)
        loss, aux = result if has_aux else (result, None)
        nested = any(x.requires_grad for x in chosen)
        found = _one_or_all(_grad(loss, inputs, create_graph=nested), argnums)
        value = loss if nested else loss.detach()
        return found, (value, aux) if has_aux else value

    return both


def jacrev(function, argnums=0):
    """Jacobians [result's shape..., argument's shape...], one backward pass for each element of the result."""

    def jacobian(*args, **kwargs):
        inner, chosen = _of(function, argnums, args, kwargs)
        return _one_or_all(_func.jacobian(inner, chosen, True), argnums)

    return jacobian


def jacfwd(function, argnums=0):
    """The same, one pass for each element of an argument."""

    def jacobian(*args, **kwargs):
        inner, chosen = _of(function, argnums, args, kwargs)
        return _one_or_all(_func.jacobian(inner, chosen, False), argnums)

    return jacobian


def hessian(function, argnums=0):
    """Second derivatives of a function whose result has one element."""

    def second(*args, **kwargs):
        inner, chosen = _of(function, argnums, args, kwargs)
        found = _func.hessian(inner, chosen)
        return found[0][0] if isinstance(argnums, int) else found

    return second


def vjp(function, *primals):
    """(function(*primals), a function that gives the product of a tensor with the Jacobian for each argument)."""
    return _func.vjp(function, list(primals))


def jvp(function, primals, tangents):
    """(function(*primals), the product of the Jacobian with the tangents)."""
    return _func.jvp(function, list(primals), list(tangents))


def hvp(function, primals, tangents):
    """The product of the Hessian with the tangents, for each argument."""
    return _func.hvp(function, list(primals), list(tangents))


def vmap(function, in_dims=0, out_dims=0):
    """A function of one sample's tensors as one of batches; in_dims: the batch's axis by argument, None for whole."""

    def batched(*args, **kwargs):
        axes = list(in_dims) if isinstance(in_dims, (tuple, list)) else [in_dims] * len(args)
        if len(axes) != len(args):
            raise TypeError(f"vmap: in_dims names {len(axes)} arguments, the call has {len(args)}")
        is_single = []

        def inner(*inputs):
            result = function(*inputs, **kwargs)
            is_single.append(isinstance(result, Tensor))
            return result

        found = _func.vmap(inner, list(args), axes, out_dims)
        return found[0] if is_single[0] else found

    return batched
