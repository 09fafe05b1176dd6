"""Modules, layers, initialisers and losses, under torch.nn's names and order of arguments::

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(784, 128)
            self.scores = nn.Linear(128, 10)

        def forward(self, x):
            return self.scores(self.hidden(x).relu())

Losses and functions of torch.nn.functional are here as well: ``nn.cross_entropy``, ``nn.interpolate``.
"""
from .._sardonyx.eager import Tensor
from .._sardonyx.eager._nn import *  # noqa: F401,F403
from .._sardonyx.eager._nn import _EvalMode, _Module, _PythonModule, init  # noqa: F401


class Parameter(Tensor):
    """A tensor that becomes a parameter of the module that it is given to."""

    def __init__(self, data, requires_grad=True):
        super().__init__(data)
        self.requires_grad = requires_grad


class Module(_PythonModule):
    """What modules derive from: `forward` computes, parameters and modules among the attributes are registered."""

    def __init__(self):
        object.__setattr__(self, "_children", {})
        object.__setattr__(self, "_own_buffers", set())
        object.__setattr__(self, "_own_parameters", set())
        super().__init__(type(self).__name__)

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *args, **kwargs):
        return self._call(self.forward, *args, **kwargs)

    def __setattr__(self, name, value):
        if isinstance(value, Parameter):
            self.register_parameter(name, value)
        elif isinstance(value, _Module):
            self.add_module(name, value)
        elif name in self._own_parameters or name in self._own_buffers:
            if value is None and name in self._own_parameters:
                self.register_parameter(name, None)
            elif isinstance(value, Tensor):
                getattr(self, name).assign(value.detach())
            else:
                raise TypeError(f"{name} is a tensor of the module: expected a Tensor, got {type(value).__name__}")
        else:
            object.__setattr__(self, name, value)

    def register_parameter(self, name, parameter):
        """A tensor to be trained; None leaves it out."""
        if name in self._own_parameters:
            self._replace_parameter(name, parameter)
        else:
            self._add_parameter(name, parameter)
        self._own_parameters.add(name)

    def register_buffer(self, name, tensor, persistent=True):
        """A tensor that is state but not trained. Assigning to the attribute changes its value."""
        if name in self._own_buffers:
            self._replace_buffer(name, tensor)
        else:
            self._add_buffer(name, tensor, persistent)
        self._own_buffers.add(name)

    def add_module(self, name, module):
        """A child under a name; it is also the attribute."""
        if name in self._children:
            self._replace_module(name, module)
        else:
            self._add_module(name, module)
        self._children[name] = module
        object.__setattr__(self, name, module)

    register_module = add_module

    def children(self):
        return list(self._children.values())

    def named_children(self):
        return list(self._children.items())

    def named_modules(self, prefix=""):
        """Itself, then all below."""
        found = [(prefix, self)]
        for name, child in self._children.items():
            path = f"{prefix}.{name}" if prefix else name
            found += child.named_modules(path) if isinstance(child, Module) else [(path, child)]
        return found

    def modules(self):
        return [module for _, module in self.named_modules()]

    def apply(self, function):
        """function(module) on each module, children first."""
        for child in self.children():
            child.apply(function) if isinstance(child, Module) else function(child)
        function(self)
        return self

    def extra_repr(self):
        return ""

    def __repr__(self):
        lines = [self.extra_repr()] if self.extra_repr() else []
        for name, child in self._children.items():
            lines.append(f"({name}): " + repr(child).replace("\n", "\n  "))
        if not self._children:
            return f"{type(self).__name__}({self.extra_repr()})"
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines) + "\n)"


class Sequential(Module):
    """One module, or function of one tensor, after the other. Also of a dict of names and modules."""

    def __init__(self, *layers):
        super().__init__()
        object.__setattr__(self, "_steps", [])
        if len(layers) == 1 and isinstance(layers[0], dict):
            for name, layer in layers[0].items():
                self._append(layer, name)
        else:
            for layer in layers:
                self.append(layer)

    def _append(self, layer, name):
        if isinstance(layer, _Module):
            self.add_module(name, layer)
        elif not callable(layer):
            raise TypeError(f"Sequential: expected a module or a function, got {type(layer).__name__}")
        self._steps.append(layer)

    def append(self, layer):
        self._append(layer, str(len(self._steps)))
        return self

    def forward(self, x):
        for step in self._steps:
            x = step(x)
        return x

    def __getitem__(self, index):
        return Sequential(*self._steps[index]) if isinstance(index, slice) else self._steps[index]

    def __len__(self):
        return len(self._steps)

    def __iter__(self):
        return iter(self._steps)


class ModuleList(Module):
    """Modules as children "0", "1" ...; it is not called itself."""

    def __init__(self, modules=()):
        super().__init__()
        self._set_is_container()
        self.extend(modules)

    def append(self, module):
        self.add_module(str(len(self._children)), module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def __getitem__(self, index):
        found = list(self._children.values())[index]
        return ModuleList(found) if isinstance(index, slice) else found

    def __len__(self):
        return len(self._children)

    def __iter__(self):
        return iter(self._children.values())


class ModuleDict(Module):
    """Modules under names; it is not called itself."""

    def __init__(self, modules=()):
        super().__init__()
        self._set_is_container()
        for name, module in dict(modules).items():
            self[name] = module

    def __getitem__(self, name):
        return self._children[name]

    def __setitem__(self, name, module):
        self.add_module(name, module)

    def __contains__(self, name):
        return name in self._children

    def __len__(self):
        return len(self._children)

    def __iter__(self):
        return iter(self._children)

    def keys(self):
        return self._children.keys()

    def values(self):
        return self._children.values()

    def items(self):
        return self._children.items()
