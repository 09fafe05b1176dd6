"""Every ONNX operator under its own name: ``op.Conv(x, w, pads=[1, 1, 1, 1])``.

Inputs by place (None leaves an optional one out), attributes by name. ``outputs=n`` asks for more outputs than one.
Operators of other domains, and those that the program registered: ``op.call("com.microsoft::FusedMatMul", a, b)``.
"""
from .._sardonyx.eager import _call_operator, _operator_names, _operator_signature


def call(name, *inputs, outputs=1, **attributes):
    """The operator `name` or "domain::Name" on tensors."""
    return _call_operator(name, *inputs, outputs=outputs, **attributes)


def __getattr__(name):
    try:
        signature = _operator_signature(name)
    except RuntimeError:
        raise AttributeError(f"there is no operator {name}") from None

    def operator(*inputs, outputs=1, **attributes):
        return _call_operator(name, *inputs, outputs=outputs, **attributes)

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = signature
    globals()[name] = operator
    return operator


def __dir__():
    return ["call"] + [name for name in _operator_names() if "::" not in name]
