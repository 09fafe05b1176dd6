"""weight_norm and spectral_norm: parameters that are computed from others in each call, as torch.nn.utils has them.

The module becomes one of a class derived from its own, whose forward() computes with the made tensors.
"""
import functools

from .. import _sardonyx
from .._sardonyx.eager._nn import Module, _UseTensors

_eager = _sardonyx.eager


def _norm_except(v, dim):
    """The Euclidean norm of each slice along `dim`, of v's rank; None: of all elements."""
    axes = [axis for axis in range(v.ndim) if dim is None or axis != dim % v.ndim]
    return (v * v).sum(axes, keepdim=dim is not None).sqrt()


class _WeightNorm:
    """weight = weight_g * weight_v / |weight_v|."""

    title = "weight_norm"

    def __init__(self, name, dim):
        self.name, self.dim = name, dim
        self.parts = (f"{name}_g", f"{name}_v")

    def register(self, module, value, parameter):
        module.register_parameter(self.parts[0], parameter(_norm_except(value, self.dim)))
        module.register_parameter(self.parts[1], parameter(value))

    def value(self, module, moves):
        g, v = (getattr(module, part) for part in self.parts)
        return v * (g / _norm_except(v, self.dim))


class _SpectralNorm:
    """weight = weight_orig / its greatest singular value, which power iterations estimate."""

    title = "spectral_norm"

    def __init__(self, name, dim, n_power_iterations, eps):
        if n_power_iterations < 1:
            raise ValueError(f"spectral_norm: expected n_power_iterations of at least 1, got {n_power_iterations}")
        self.name, self.dim, self.n_power_iterations, self.eps = name, dim, n_power_iterations, eps
        self.parts = (f"{name}_orig", f"{name}_u", f"{name}_v")

    def matrix(self, weight):
        return weight.movedim(self.dim, 0).reshape(weight.shape[self.dim], -1)

    def unit(self, x):
        return x / x.norm().clamp(min=self.eps)

    def register(self, module, value, parameter):
        rows, columns = self.matrix(value).shape
        module.register_parameter(self.parts[0], parameter(value))
        for part, size in zip(self.parts[1:], (rows, columns)):
            module.register_buffer(part, self.unit(_eager.randn(size, dtype=value.dtype)))

    def value(self, module, moves):
        weight, u, v = (getattr(module, part) for part in self.parts)
        matrix = self.matrix(weight)
        if moves:
            with _eager.no_grad():
                for _ in range(self.n_power_iterations):
                    v.assign(self.unit(matrix.t() @ u))
                    u.assign(self.unit(matrix @ v))
        return weight / (u.detach() * (matrix @ v.detach())).sum()


class _Reparametrized:
    """What the classes of such modules have beyond the module's own."""

    def forward(self, *args, **kwargs):
        made = {name: norm.value(self, self.training) for name, norm in self._norms.items()}
        of_layer = {name: made[name] for name in self._hidden}
        self.__dict__["_made"] = made
        try:
            with _UseTensors(self, of_layer):
                return super().forward(*args, **kwargs)
        finally:
            del self.__dict__["_made"]

    def __setstate__(self, state):
        for name in state["attributes"]["_hidden"]:  # what made the copy has registered them
            _hide(self, name)
        super().__setstate__(state)


def _made_tensor(name):
    def read(self):
        made = self.__dict__.get("_made")
        return made[name] if made else self._norms[name].value(self, False)

    return property(read)


@functools.lru_cache(maxsize=None)
def _class_of(base, names):
    members = {name: _made_tensor(name) for name in names}
    return type(base.__name__, (_Reparametrized, base), {"__module__": base.__module__, "_base": base, **members})


def _set_class(module):
    base = getattr(type(module), "_base", type(module))
    module.__class__ = _class_of(base, tuple(module._norms)) if module._norms else base


def _hide(module, name):
    """Keeps the tensor that a layer of C++ computes with among its buffers, where nobody trains or saves it."""
    own = getattr(module, name)
    own.requires_grad = False
    module._remove(name)
    module._add_buffer(name, own, False)


def _reparametrize(module, norm, parameter):
    name = norm.name
    if name in module.__dict__.get("_norms", {}):
        raise RuntimeError(f"{norm.title}: {name} of {type(module).__name__} is computed from others already")
    if name not in dict(Module.named_parameters(module)):
        raise AttributeError(f"{norm.title}: {type(module).__name__} has no parameter {name}")
    value = getattr(module, name).detach().clone()
    if "_norms" not in module.__dict__:
        module.__dict__.update(_norms={}, _hidden=[])
    if name in module.__dict__.get("_kinds", {}):
        delattr(module, name)
    else:
        _hide(module, name)
        module._hidden.append(name)
    norm.register(module, value, parameter)
    module._norms[name] = norm
    _set_class(module)
    return module


def _remove(module, name, title, parameter):
    norm = module.__dict__.get("_norms", {}).get(name)
    if norm is None or norm.title != title:
        raise ValueError(f"{title} of '{name}' not found in {type(module).__name__}")
    value = norm.value(module, False).detach()
    del module._norms[name]
    _set_class(module)
    for part in norm.parts:
        delattr(module, part)
    if name in module._hidden:
        module._hidden.remove(name)
        own = getattr(module, name)
        own.assign(value)
        module._remove(name)
        module._add_parameter(name, own)
    else:
        module.register_parameter(name, parameter(value))
    if not module._norms:
        del module.__dict__["_norms"], module.__dict__["_hidden"]
    return module


def functions(parameter):
    """The members of nn.utils, which register with this class of parameters."""

    def weight_norm(module, name="weight", dim=0):
        """The parameter as name_g * name_v / |name_v|, both trained; a norm for each slice along `dim`, or one."""
        return _reparametrize(module, _WeightNorm(name, dim), parameter)

    def remove_weight_norm(module, name="weight"):
        """The parameter by itself again, with the value that it has now."""
        return _remove(module, name, "weight_norm", parameter)

    def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
        """The parameter divided by its greatest singular value as a matrix whose rows are `dim`."""
        if dim is None:
            dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
        return _reparametrize(module, _SpectralNorm(name, dim, n_power_iterations, eps), parameter)

    def remove_spectral_norm(module, name="weight"):
        """The parameter by itself again, with the value that it has now."""
        return _remove(module, name, "spectral_norm", parameter)

    return {one.__name__: one for one in (weight_norm, remove_weight_norm, spectral_norm, remove_spectral_norm)}


def functional_call(module, parameters_and_buffers, args=None, kwargs=None):
    """module(*args, **kwargs) with these tensors, by path, in place of its own; gradients flow to them."""
    given = {}
    maps = (parameters_and_buffers,) if isinstance(parameters_and_buffers, dict) else parameters_and_buffers
    for one in maps:
        given.update(one)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _UseTensors(module, given):
        return module(*args, **(kwargs or {}))
