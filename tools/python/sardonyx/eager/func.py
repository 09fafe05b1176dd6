"""Functions of functions, under torch.func's names: ``grad``, ``vmap``, ``jacrev``, ``hessian`` ...

Functions take and give floating tensors, or dicts, lists and tuples of them; of those that differentiate the result is
one tensor.
"""
from .._sardonyx.eager import _func, grad as _grad, stack as _stack
from ._reparametrize import functional_call  # noqa: F401


def _numbers(argnums):
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def _leaves(tree):
    """The tensors of dicts, lists and tuples, and a function that builds the same of others."""
    if isinstance(tree, dict):
        parts = {key: _leaves(value) for key, value in tree.items()}
        return _joined(list(parts.values()), lambda made: dict(zip(parts, made)))
    if isinstance(tree, (list, tuple)):
        kind = getattr(type(tree), "_make", type(tree))
        return _joined([_leaves(value) for value in tree], kind)
    return [tree], lambda leaves: leaves[0]


def _joined(parts, build):
    def built(leaves):
        leaves, made = list(leaves), []
        for own, build_part in parts:
            made.append(build_part(leaves[: len(own)]))
            leaves = leaves[len(own) :]
        return build(made)

    return [leaf for own, _ in parts for leaf in own], built


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
        leaves, build = _leaves(chosen)
        # Tracked copies: what tracks the arguments themselves goes on through them.
        inputs = [x + 0 if x.requires_grad else x.detach().requires_grad_() for x in leaves]
        result = inner(*build(inputs))
        loss, aux = result if has_aux else (result, None)
        nested = any(x.requires_grad for x in leaves)
        found = _one_or_all(build(_grad(loss, inputs, create_graph=nested)), argnums)
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
    """A function of one sample's tensors as one of batches; in_dims: the batch's axis by argument, None for whole.

    Arguments and results may be dicts, lists and tuples of tensors.
    """

    def batched(*args, **kwargs):
        by_argument = list(in_dims) if isinstance(in_dims, (tuple, list)) else [in_dims] * len(args)
        if len(by_argument) != len(args):
            raise TypeError(f"vmap: in_dims names {len(by_argument)} arguments, the call has {len(args)}")
        leaves, build = _leaves(list(args))
        axes = [axis for axis, given in zip(by_argument, args) for _ in _leaves(given)[0]]
        builders = []

        def inner(*inputs):
            parts, build_result = _leaves(function(*build(inputs), **kwargs))
            builders.append(build_result)
            return parts

        found = _func.vmap(inner, leaves, axes, out_dims)
        return builders[0](found)

    return batched


def stack_module_state(models):
    """(parameters, buffers) of models of one kind, each stacked along a new first axis, by name: for vmap()."""
    models = list(models)
    if not models:
        raise ValueError("stack_module_state: expected models, got none")

    def stacked(named):
        tables = [dict(named(model)) for model in models]
        return {name: _stack([table[name].detach() for table in tables]) for name in tables[0]}

    parameters = stacked(lambda model: model.named_parameters())
    for value in parameters.values():
        value.requires_grad_()
    return parameters, stacked(lambda model: model.named_buffers())
