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
import ast
import copy
import functools
import sys
import types

from .. import _sardonyx
from .._sardonyx.eager import Generator as _Generator
from .._sardonyx.eager import Tensor, _nn, _optim
from .._sardonyx.eager import use_generator as _use_generator
from .._sardonyx.eager._nn import *  # noqa: F401,F403
from .._sardonyx.eager._nn import Module, _EvalMode, init  # noqa: F401
from . import _packed, _reparametrize
from ._extension import extends as _extends
from ._functions import (  # noqa: F401
    LPPool1d,
    LPPool2d,
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
    TripletMarginWithDistanceLoss,
    instance_norm,
    lp_pool1d,
    lp_pool2d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    triplet_margin_with_distance_loss,
)
from ._tensor import device as _Device
from ._tensor import one_handle as _one_handle


class Parameter(Tensor):
    """A tensor that becomes a parameter of the module that it is given to."""

    def __init__(self, data, requires_grad=True):
        super().__init__(data)
        self.requires_grad = requires_grad


@functools.lru_cache(maxsize=None)
def _options_of_class(name):
    """The arguments of a layer's constructor with what stands for those that are left out, from its docstring."""
    signature = getattr(_nn, name).__doc__.partition("\n")[0]
    arguments = ast.parse(f"def made{signature[signature.index('('):]}: pass").body[0].args
    names, fallbacks = [a.arg for a in arguments.args], [ast.literal_eval(value) for value in arguments.defaults]
    return names, dict(zip(names[len(names) - len(fallbacks):], fallbacks))


def _options_of(layer):
    """What a layer of C++ was made with, by torch's names and in torch's forms."""
    name, args, kwargs = layer.__dict__["_made_with"]
    names, options = _options_of_class(name)
    options = {**options, **dict(zip(names, args)), **kwargs}
    if name.startswith("Conv"):
        for size in ("kernel_size", "stride", "padding", "dilation", "output_padding"):
            if isinstance(options.get(size), int):
                options[size] = (options[size],) * int(name[-2])
    elif "Pool" in name and "stride" in options and options["stride"] is None:
        options["stride"] = options["kernel_size"]
    elif name == "LayerNorm" and isinstance(options["normalized_shape"], int):
        options["normalized_shape"] = (options["normalized_shape"],)
    return options


_tensor_of = Module.__getattr__


@_extends(Module)
class _Attributes:
    """Registration by attributes. The object's own dict has what is registered, `_kinds` says as what."""

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __getattr__(self, name):
        try:
            return _tensor_of(self, name)
        except AttributeError:
            made_here = "_made_with" in self.__dict__ and not name.startswith("_")
            if made_here and name in (options := _options_of(self)):
                return options[name]
            if made_here and name in (parts := dict(self._named_children())):
                return parts[name]
            raise

    def __setattr__(self, name, value):
        if name not in self.__dict__ and "_made_with" in self.__dict__:
            options = _options_of(self)
            if name in options and not hasattr(type(self), name) and value != options[name]:
                raise AttributeError(f"{name} of {self._type_name} is {options[name]!r} since it was made; make another")
            if name in dict(self._named_children()):
                raise AttributeError(f"{name} of {self._type_name} stays the layer that it computes with; make another")
        kind = self.__dict__.get("_kinds", {}).get(name)
        if isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        elif isinstance(value, Parameter):
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self.add_module(name, value)
        elif kind is None:
            object.__setattr__(self, name, value)
        elif value is None:
            self._register(kind, name, None)
        elif kind == "module":
            raise TypeError(f"{name} is a module of the module: expected a Module or None, got {type(value).__name__}")
        elif not isinstance(value, Tensor):
            raise TypeError(f"{name} is a tensor of the module: expected a Tensor, got {type(value).__name__}")
        elif self.__dict__[name] is None:
            self._register(kind, name, value)
        else:
            self.__dict__[name].assign(value.detach())

    def __delattr__(self, name):
        if self.__dict__.get("_kinds", {}).pop(name, None):
            self._remove(name)
        object.__delattr__(self, name)

    def _register(self, kind, name, value, persistent=True):
        """Puts `value` in the place of what the name stands for; None keeps the place free."""
        kinds = self.__dict__.setdefault("_kinds", {})
        known = kinds.get(name)
        if known and (known != kind or value is None):
            self._remove(name)
        is_replaced = known == kind and self.__dict__[name] is not None
        if value is None:
            pass
        elif kind == "module":
            self._set_module(name, value)
        elif kind == "buffer":
            kept = self._replace_buffer(name, value) if is_replaced else self._add_buffer(name, value, persistent)
            value = value if value.is_same(kept) else kept
        else:
            kept = self._replace_parameter(name, value) if is_replaced else self._add_parameter(name, value)
            value = value if value.is_same(kept) else kept
        kinds[name] = kind
        self.__dict__[name] = value

    def register_parameter(self, name, parameter):
        """A tensor to be trained; None leaves it out."""
        self._register("parameter", name, parameter)

    def register_buffer(self, name, tensor, persistent=True):
        """A tensor that is state but not trained. Assigning to the attribute changes its value."""
        self._register("buffer", name, tensor, persistent)

    def add_module(self, name, module):
        """A child under a name; it is also the attribute. None leaves it out."""
        self._register("module", name, module)

    register_module = add_module

    def children(self):
        return [child for _, child in self.named_children()]

    def named_children(self):
        return [(name, self.__dict__.get(name, child)) for name, child in self._named_children()]

    def named_modules(self, prefix=""):
        """Itself, then all below."""
        found = [(prefix, self)]
        for name, child in self.named_children():
            found += child.named_modules(f"{prefix}.{name}" if prefix else name)
        return found

    def modules(self):
        return [module for _, module in self.named_modules()]

    def apply(self, function):
        """function(module) on each module, children first."""
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    def extra_repr(self):
        return self._description

    def __reduce_ex__(self, protocol):
        """What copy.deepcopy and pickle take: what made it, its tensors and attributes. Hooks are left out."""
        attributes = dict(self.__dict__)
        made_with, kinds = attributes.pop("_made_with", None), attributes.pop("_kinds", {})
        named = [*self.named_parameters(), *self.named_buffers()]
        saved = set(self.state_dict())
        state = {
            "kinds": kinds,
            "attributes": {name: _one_handle(x) if isinstance(x, Tensor) else x for name, x in attributes.items()},
            "tensors": {name: _one_handle(x) for name, x in named if name.split(".")[0] not in kinds},
            "transient": [name for name, _ in self.named_buffers() if name not in saved],
            "training": self.training,
            "is_container": isinstance(self, (ModuleList, ModuleDict)),
        }
        return _rebuilt, (type(self), made_with), state

    def __setstate__(self, state):
        if state["is_container"]:
            self._set_is_container()
        if not state["training"]:
            self.eval()
        for dtype in {x.dtype for x in state["tensors"].values() if x.is_floating_point()}:
            self.to(dtype)
        own = dict([*self.named_parameters(), *self.named_buffers()])
        tracked = [(x, x.requires_grad) for x in state["attributes"].values() if isinstance(x, Tensor)]
        for name, value in state["tensors"].items():
            member = getattr(type(self), name, None)
            if isinstance(member, property) and member.fset:
                tracked.append((value, value.requires_grad))
                setattr(self, name, value)
            else:
                own[name].assign(value.detach())
                own[name].requires_grad = value.requires_grad
        for name, value in state["attributes"].items():
            kind = state["kinds"].get(name)
            if kind is None:
                self.__dict__[name] = value
            else:
                self._register(kind, name, value, *([name not in state["transient"]] if kind == "buffer" else []))
        for value, requires_grad in tracked:  # registration makes parameters require gradients
            value.requires_grad = requires_grad

    def __repr__(self):
        name = self._type_name if type(self) is Module else type(self).__name__
        children = [f"({key}): " + repr(child).replace("\n", "\n  ") for key, child in self.named_children()]
        if not children:
            return f"{name}({self.extra_repr()})"
        lines = [self.extra_repr()] if self.extra_repr() else []
        return f"{name}(\n  " + "\n  ".join(lines + children) + "\n)"


def _rebuilt(kind, made_with):
    module = kind.__new__(kind)
    if made_with is None:
        Module.__init__(module)
        return module
    name, args, kwargs = made_with
    with _use_generator(_Generator(0)):  # values that are drawn here are not kept
        getattr(_nn, name).__init__(module, *args, **kwargs)
    return module


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
        if isinstance(layer, Module):
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

    def __setitem__(self, index, layer):
        place = range(len(self._steps))[index]  # IndexError beyond them
        before = self._steps[place]
        if not isinstance(layer, Module) or not isinstance(before, Module):
            raise TypeError(f"Sequential: expected a module in place of a module, got {type(layer).__name__}")
        name = next(name for name, child in self.named_children() if child is before)
        self.add_module(name, layer)
        self._steps[place] = layer

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
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def __setitem__(self, index, module):
        self.add_module(self.named_children()[index][0], module)

    def __getitem__(self, index):
        found = self.children()[index]
        return ModuleList(found) if isinstance(index, slice) else found

    def __len__(self):
        return len(self.children())

    def __iter__(self):
        return iter(self.children())


class ModuleDict(Module):
    """Modules under names; it is not called itself."""

    def __init__(self, modules=()):
        super().__init__()
        self._set_is_container()
        for name, module in dict(modules).items():
            self[name] = module

    def __getitem__(self, name):
        return dict(self.named_children())[name]

    def __setitem__(self, name, module):
        self.add_module(name, module)

    def __delitem__(self, name):
        delattr(self, name)

    def __contains__(self, name):
        return name in dict(self.named_children())

    def __len__(self):
        return len(self.children())

    def __iter__(self):
        return iter(self.keys())

    def keys(self):
        return dict(self.named_children()).keys()

    def values(self):
        return dict(self.named_children()).values()

    def items(self):
        return dict(self.named_children()).items()


class ParameterList(Module):
    """Tensors as parameters "0", "1" ..."""

    def __init__(self, values=()):
        super().__init__()
        self.extend(values)

    def append(self, value):
        self.register_parameter(str(len(self)), value if isinstance(value, Parameter) else Parameter(value))
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __getitem__(self, index):
        values = list(self)
        return ParameterList(values[index]) if isinstance(index, slice) else values[index]

    def __len__(self):
        return len(self.__dict__.get("_kinds", {}))

    def __iter__(self):
        return iter([self.__dict__[str(number)] for number in range(len(self))])


class ParameterDict(Module):
    """Tensors as parameters under names."""

    def __init__(self, values=()):
        super().__init__()
        self.update(values)

    def update(self, values):
        for name, value in dict(values).items():
            self[name] = value

    def __getitem__(self, name):
        return self.__dict__[name]

    def __setitem__(self, name, value):
        self.register_parameter(name, value if isinstance(value, Parameter) else Parameter(value))

    def __delitem__(self, name):
        delattr(self, name)

    def __contains__(self, name):
        return name in self.keys()

    def __len__(self):
        return len(self.keys())

    def __iter__(self):
        return iter(self.keys())

    def keys(self):
        return self.__dict__.get("_kinds", {}).keys()

    def values(self):
        return [self[name] for name in self.keys()]

    def items(self):
        return [(name, self[name]) for name in self.keys()]


class PairwiseDistance(Module):
    """The p-norm of the difference of two tensors along the last axis."""

    def __init__(self, p=2.0, eps=1e-6, keepdim=False):
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1, x2):
        return _nn.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


def _copies(layer, count):
    if count < 1:
        raise ValueError(f"expected at least one layer, got {count}")
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


class TransformerEncoder(Module):
    """`num_layers` copies of an encoder layer, one after the other, and `norm` behind them where given.

    `enable_nested_tensor` and `mask_check` are accepted for compatibility: there are no nested tensors.
    """

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        """src and the result [time, batch, embed] or batch first, as the layers have it; all see the same masks."""
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, bool(is_causal))
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """`num_layers` copies of a decoder layer, which all see the same `memory`, and `norm` behind them where given."""

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        masks = tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        for layer in self.layers:
            tgt = layer(tgt, memory, *masks, bool(tgt_is_causal), bool(memory_is_causal))
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """Encoder and decoder, each with a LayerNorm behind its layers; matrices are initialised by xavier_uniform_.

    activation: "relu" or "gelu". custom_encoder and custom_decoder take the place of what is made otherwise.
    """

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        custom_encoder=None,
        custom_decoder=None,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
    ):
        super().__init__()
        options = dict(
            dim_feedforward=dim_feedforward,
            dropout=dropout,
            activation=activation,
            layer_norm_eps=layer_norm_eps,
            batch_first=batch_first,
            norm_first=norm_first,
            bias=bias,
        )

        def norm():
            return _nn.LayerNorm(d_model, eps=layer_norm_eps, bias=bias)

        self.encoder = custom_encoder or TransformerEncoder(
            _nn.TransformerEncoderLayer(d_model, nhead, **options), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            _nn.TransformerDecoderLayer(d_model, nhead, **options), num_decoder_layers, norm()
        )
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        src_is_causal=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        """src and tgt [time, batch, embed], or batch first; the result is of tgt's shape.

        Masks [queries, keys] and [batch, keys]: bools that are True, or what is added to scores, keep keys from queries.
        """
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask,
            memory_mask,
            tgt_key_padding_mask,
            memory_key_padding_mask,
            tgt_is_causal,
            memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """float [sz, sz]: -infinity above the diagonal, 0 elsewhere, so that no query sees later keys."""
        if device is not None:
            _Device(device)  # refuses all but the CPU
        whole = _sardonyx.eager.full((sz, sz), float("-inf"), dtype=dtype)
        return _sardonyx.eager.triu(whole, 1)


def _module(name, members):
    made = types.ModuleType(f"{__name__}.{name}")
    vars(made).update(members)
    sys.modules[made.__name__] = made  # import sardonyx.eager.nn.functional as F
    return made


def _parameters_to_vector(parameters):
    """All elements in one tensor [n], parameter by parameter."""
    return _sardonyx.eager.cat([parameter.reshape(-1) for parameter in parameters])


def _vector_to_parameters(vec, parameters):
    """Gives the parameters the elements of such a tensor."""
    parameters = list(parameters)
    count = sum(parameter.numel() for parameter in parameters)
    if tuple(vec.shape) != (count,):
        raise ValueError(f"vec: expected {count} elements for the parameters, got shape {tuple(vec.shape)}")
    for parameter in parameters:
        parameter.assign(vec[: parameter.numel()].detach().reshape(parameter.shape))
        vec = vec[parameter.numel() :]


utils = _module(
    "utils",
    {
        "clip_grad_norm_": _optim.clip_grad_norm_,
        "clip_grad_value_": _optim.clip_grad_value_,
        "parameters_to_vector": _parameters_to_vector,
        "vector_to_parameters": _vector_to_parameters,
        **_reparametrize.functions(Parameter),
    },
)


utils.rnn = _module("utils.rnn", _packed.members)
utils.stateless = _module("utils.stateless", {"functional_call": _reparametrize.functional_call})

# Functions of torch.nn.functional, where torch programs look for them.
functional = _module(
    "functional",
    {
        name: member
        for part in (_sardonyx.eager, _nn)
        for name, member in vars(part).items()
        if not name.startswith("_") and not isinstance(member, (type, types.ModuleType))
    },
)
functional.instance_norm, functional.lp_pool1d, functional.lp_pool2d = instance_norm, lp_pool1d, lp_pool2d
functional.max_pool1d, functional.max_pool2d, functional.max_pool3d = max_pool1d, max_pool2d, max_pool3d
functional.triplet_margin_with_distance_loss = triplet_margin_with_distance_loss
functional.upsample = functional.interpolate
