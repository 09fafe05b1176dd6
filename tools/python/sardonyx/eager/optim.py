"""Optimisers and schedules of learning rates, by torch.optim's formulas, names and arguments."""
import collections.abc
import copy
import numbers
import sys
import types

from .. import _sardonyx
from .._sardonyx.eager import _optim
from .._sardonyx.eager._optim import *  # noqa: F401,F403
from .._sardonyx.eager._optim import LRScheduler, Optimizer, ReduceLROnPlateau
from . import nn
from ._extension import extends as _extends
from ._tensor import device as _Device

_eager = _sardonyx.eager


class ParamGroup(collections.abc.MutableMapping):
    """A group of an optimiser: "params", "lr" and its other options, to be read and written."""

    def __init__(self, optimizer, number):
        self._optimizer, self._number = optimizer, number

    def _parts(self):
        params, options = self._optimizer._groups[self._number]
        return params, options, self._optimizer.__dict__.setdefault("_notes", {}).setdefault(self._number, {})

    def __getitem__(self, key):
        params, options, notes = self._parts()
        if key == "params":
            return params
        if key not in options:
            return notes[key]
        live = self._live(key)
        return options[key] if live is None else live

    def _live(self, key):
        # What schedules set; None for what stays as it was given.
        if key == "lr":
            return self._optimizer.get_lr(self._number)
        if key not in ("momentum", "betas"):
            return None
        momentum = self._optimizer.get_momentum(self._number)
        if key == "momentum" or momentum is None:
            return momentum
        return (momentum, *self._parts()[1]["betas"][1:])

    def __setitem__(self, key, value):
        params, options, notes = self._parts()
        if key == "params":
            raise TypeError("the parameters of a group stay; add_param_group() adds others")
        if key == "lr" and "lr" in options:
            self._optimizer.set_lr(float(value), self._number)
        elif self._optimizer._is_of_python:
            options[key] = value
        elif self._sets_momentum_alone(key, value):
            self._optimizer.set_momentum(float(value if key == "momentum" else value[0]), self._number)
        elif key in options:
            groups = self._optimizer._live_groups()
            groups[self._number][key] = value
            self._optimizer._set_groups(groups)
        else:
            notes[key] = value

    def _sets_momentum_alone(self, key, value):
        live = self._live(key)
        if live is None or key == "lr":
            return False
        if key == "momentum":
            return isinstance(value, numbers.Real)
        pair = list(value) if isinstance(value, (list, tuple)) else []
        return len(pair) == 2 and pair[1] == live[1] and isinstance(pair[0], numbers.Real)

    def __delitem__(self, key):
        _, options, notes = self._parts()
        del (options if self._optimizer._is_of_python and key in options else notes)[key]

    def __iter__(self):
        _, options, notes = self._parts()
        return iter(["params", *options, *notes])

    def __len__(self):
        return len(list(iter(self)))

    def __repr__(self):
        return repr({key: f"{len(value)} tensors" if key == "params" else value for key, value in self.items()})


class TensorDict(collections.abc.MutableMapping):
    """Values beside tensors. A tensor is a key by what it is a handle of, not by its elements."""

    def __init__(self):
        self._entries = {}

    def __getitem__(self, key):
        return self._entries.setdefault(hash(key), (key, {}))[1]

    def __setitem__(self, key, value):
        self._entries[hash(key)] = (key, value)

    def __delitem__(self, key):
        del self._entries[hash(key)]

    def __contains__(self, key):
        return hash(key) in self._entries

    def __iter__(self):
        return iter([key for key, _ in self._entries.values()])

    def __len__(self):
        return len(self._entries)


def _tensors(params):
    given = [params] if isinstance(params, _eager.Tensor) else list(params)
    return [one[1] if isinstance(one, tuple) else one for one in given]


_construct, _state_dict, _load_state_dict = Optimizer.__init__, Optimizer.state_dict, Optimizer.load_state_dict


@_extends(Optimizer)
class _ExtendedOptimizer:
    def __init__(self, params, defaults):
        _construct(self, params, dict(defaults))
        self.state = TensorDict()
        self._groups = []
        given = [params] if isinstance(params, _eager.Tensor) else list(params)
        if not given:
            raise ValueError(f"{type(self).__name__}: expected parameters, got none")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    @property
    def param_groups(self):
        """A mapping for each group: "params", "lr" and the other options, to be read and written."""
        return [ParamGroup(self, number) for number in range(len(self._groups))]

    def add_param_group(self, param_group):
        """A further group: {"params": tensors} and options that differ from the others'."""
        if not self._is_of_python and not hasattr(self, "_set_groups"):
            raise ValueError(f"{type(self).__name__} has one group: give it all parameters when it is made")
        options = {**self.defaults, **param_group}
        params = _tensors(options.pop("params"))
        if self._is_of_python:
            self._add_group(params, options)
        else:
            self._set_groups(self._live_groups() + [param_group])

    def _live_groups(self):
        # As they are given to make an optimiser, with what schedules have set since.
        return [
            {"params": params, **{key: group[key] for key in options}}
            for group, (params, options) in zip(self.param_groups, self._groups)
        ]

    def state_dict(self):
        if not self._is_of_python:
            return _state_dict(self)
        number = {hash(p): i for i, p in enumerate(p for params, _ in self._groups for p in params)}
        groups = [{**group, "params": [number[hash(p)] for p in group["params"]]} for group in self.param_groups]
        return {"state": {number[hash(p)]: value for p, value in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict):
        if not self._is_of_python:
            return _load_state_dict(self, state_dict)
        params = [p for tensors, _ in self._groups for p in tensors]
        groups = state_dict["param_groups"]
        if [len(group["params"]) for group in groups] != [len(tensors) for tensors, _ in self._groups]:
            raise ValueError(f"load_state_dict of {type(self).__name__}: the groups have other numbers of parameters")
        for own, given in zip(self.param_groups, groups):
            own.update({key: value for key, value in given.items() if key != "params"})
        self.state = TensorDict()
        for index, value in copy.deepcopy(state_dict["state"]).items():
            self.state[params[index]] = value

    def __repr__(self):
        return f"{type(self).__name__} ({', '.join(map(repr, self.param_groups))})"


class AveragedModel(nn.Module):
    """A copy of a model whose parameters are means over time, as torch.optim.swa_utils.AveragedModel.

    `avg_fn(averaged, current, count)` gives the next mean; all updates count alike unless it is given.
    """

    def __init__(self, model, device=None, avg_fn=None, use_buffers=False):
        super().__init__()
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", _eager.tensor(0))
        self.avg_fn, self.use_buffers = avg_fn or (lambda mean, now, count: mean + (now - mean) / (count + 1)), use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    @staticmethod
    def _state_of(module, with_buffers):
        return [*module.parameters(), *(module.buffers() if with_buffers else [])]

    def update_parameters(self, model):
        """Takes the model's values into the means; the first ones as they are."""
        count = self.n_averaged.item()
        with _eager.no_grad():
            pairs = zip(self._state_of(self.module, self.use_buffers), self._state_of(model, self.use_buffers))
            for mean, now in pairs:
                is_averaged = count > 0 and mean.is_floating_point()
                mean.assign(self.avg_fn(mean.detach(), now.detach(), count) if is_averaged else now.detach())
            for mean, now in zip(self.module.buffers(), model.buffers()) if not self.use_buffers else ():
                mean.assign(now.detach())
            self.n_averaged.assign(self.n_averaged + 1)


def get_ema_avg_fn(decay=0.999):
    """An `avg_fn` of exponential moving means: decay * averaged + (1 - decay) * current."""
    return lambda mean, now, count: decay * mean + (1 - decay) * now


def _module(name, members):
    made = types.ModuleType(f"{__name__}.{name}")
    vars(made).update({member.__name__: member for member in members})
    sys.modules[made.__name__] = made  # import sardonyx.eager.optim.lr_scheduler
    return made


lr_scheduler = _module(
    "lr_scheduler",
    [LRScheduler, ReduceLROnPlateau]
    + [one for one in vars(_optim).values() if isinstance(one, type) and issubclass(one, LRScheduler)],
)
def update_bn(loader, model, device=None):
    """Running statistics of the model's batch norms anew, as means over all batches of `loader`.

    A batch that is a list or tuple gives its first element to the model. For models whose parameters are means.
    """
    if device is not None:
        _Device(device)  # refuses all but the CPU

    def run():
        for batch in loader:
            model(batch[0] if isinstance(batch, (list, tuple)) else batch)

    _optim._update_bn(model, run)


swa_utils = _module("swa_utils", [AveragedModel, _optim.SWALR, get_ema_avg_fn, update_bn])
