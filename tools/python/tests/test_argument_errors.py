"""Every public function, constructor, method and property is given a wrong type for each of its arguments: what is
said is in the words of its signature, and not in those of the binding."""
import inspect
import re
import unittest

import sardonyx
from sardonyx import eager
from sardonyx.eager import amp, func, nn, optim

UNREADABLE = ("incompatible function arguments", "incompatible constructor arguments", "Unable to cast", "arg0")


class Thing:
    """Fits nothing."""

    def __repr__(self):
        return "<thing>"


def samples():
    """Objects whose methods are called, by class."""
    weight = nn.Parameter(eager.ones(2, 3))
    sgd = optim.SGD([weight], lr=0.1)
    made = [eager.ones(2, 3), eager.Generator(1), nn.Linear(3, 2), sgd, amp.GradScaler(), optim.StepLR(sgd, 1),
            optim.ReduceLROnPlateau(sgd), nn.Sequential(nn.Linear(3, 3)), nn.ModuleList([nn.Linear(3, 3)]),
            eager.compile(lambda x: x * 2), weight.register_hook(lambda g: g), nn.LSTM(3, 2), nn.LSTMCell(3, 2),
            nn.MultiheadAttention(4, 2), nn.Transformer(4, 2, 1, 1, 8), nn.EmbeddingBag(4, 3)]
    for name in ("Adam", "AdamW", "RMSprop", "Adagrad", "LBFGS"):
        made.append(getattr(optim, name)([nn.Parameter(eager.ones(2))]))
    return made


# What an argument of a type may be, where the signature wants one.
VALUES = {"Tensor": lambda: eager.ones(2, 3), "TensorLike": lambda: eager.ones(2, 3), "int": lambda: 1,
          "float": lambda: 0.5, "bool": lambda: True, "str": lambda: "mean", "Ints": lambda: 1,
          "Tensors": lambda: [eager.ones(2, 3)], "Optimizer": lambda: optim.SGD([nn.Parameter(eager.ones(2))], lr=0.1)}


def parts_of(text):
    """"a: Tuple[int, int], b: int = 1" at the commas outside of brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def parameters_of(function):
    """(name, type, whether it must be given) of the arguments that have names, but for self."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        signature = None
    if signature is not None and not (function.__doc__ or "").startswith(getattr(function, "__name__", "?") + "("):
        return [(p.name, "", p.default is p.empty) for p in signature.parameters.values()
                if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name != "self"]
    found = re.match(r"\w+\((.*?)\)(?: -> |\n|$)", function.__doc__ or "", re.S)
    parameters = []
    for part in parts_of(found[1]) if found else []:
        name, _, rest = part.partition(":")
        kind, _, fallback = rest.partition("=")
        if name.isidentifier() and name != "self":
            parameters.append((name, kind.strip(), not fallback))
    return parameters


def public(scope):
    return [(name, getattr(scope, name)) for name in dir(scope) if not name.startswith("_")]


class ArgumentErrors(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.unreadable = []

    def tearDown(self):
        self.assertEqual("\n".join(self.unreadable), "")

    def check(self, name, call):
        try:
            call()
        except Exception as error:  # of any class: its words are looked at
            self.unreadable += [f"{name}: {error}" for words in UNREADABLE if words in str(error)]

    def check_callable(self, name, function):
        parameters = parameters_of(function)
        required = {one: VALUES.get(kind.removeprefix("Optional[").removesuffix("]"), VALUES["Tensor"])
                    for one, kind, must in parameters if must}
        for count in range(1, 4):
            self.check(f"{name}, {count} by place", lambda: function(*[Thing()] * count))
        self.check(name, lambda: function(no_such_argument=1))
        for one, _, _ in parameters:
            if re.fullmatch(r"arg\d+", one):
                continue  # by place alone
            arguments = {other: value() for other, value in required.items()}
            arguments[one] = Thing()
            self.check(f"{name}, {one}", lambda: function(**arguments))
            places = [arguments[other] for other, _, must in parameters if other in arguments]
            self.check(f"{name}, {one} by place", lambda: function(*places))

    def test_functions_and_constructors(self):
        count = 0
        for scope in (sardonyx, eager, nn, optim, amp, func, eager.linalg, eager.fft, eager.op):
            for name, value in public(scope):
                if inspect.ismodule(value) or not callable(value) or name == "set_seed":
                    continue
                if getattr(value, "__module__", "").startswith(("typing", "collections")):
                    continue
                count += 1
                self.check_callable(f"{scope.__name__}.{name}", value)
        self.assertGreater(count, 500)

    def test_methods_and_properties(self):
        for one in samples():
            for name in dir(type(one)):
                if name.startswith("_"):
                    continue
                whole = f"{type(one).__name__}.{name}"
                if isinstance(inspect.getattr_static(type(one), name), property):
                    self.check(whole, lambda: setattr(one, name, Thing()))
                elif callable(getattr(type(one), name)):
                    self.check_callable(whole, getattr(one, name))

    def test_texts(self):
        weight = nn.Parameter(eager.ones(2))
        sgd = optim.SGD([weight], lr=0.1)
        cases = [
            (lambda: eager.Generator("a"), "Generator(): expected (seed: int = 0), got ('a')"),
            (lambda: setattr(sgd, "lr", "a"), "Optimizer.lr: expected (float), got ('a')"),
            (lambda: sgd.load_state_dict(3), "Optimizer.load_state_dict(): expected (state_dict: "),
            (lambda: amp.GradScaler().load_state_dict([1]), "GradScaler.load_state_dict(): expected (state_dict: "),
            (lambda: optim.StepLR(sgd, 1).load_state_dict("x"), "load_state_dict(): expected (state_dict: "),
            (lambda: sgd.zero_grad("x"), "zero_grad(): expected (set_to_none: bool = True), got ('x')"),
        ]
        for call, expected in cases:
            with self.assertRaises(TypeError) as raised:
                call()
            self.assertIn(expected, str(raised.exception))


if __name__ == "__main__":
    unittest.main()
