#!/usr/bin/python3
"""run_models.py LIBRARY FOLDER...: runs models through the C interface, from Python by ctypes, and compares all outputs.

Each FOLDER holds models as NAME/model.onnx with NAME/test_data_set_K/{input,output}_J.pb, and perhaps a MANIFEST.csv of
tolerances. Exit code 77 without the packages that read these files (Debian's python3-numpy and python3-onnx)."""
import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_size_t, c_void_p
from pathlib import Path

try:
    import numpy as np
    from onnx import MapProto, SequenceProto, TensorProto, mapping, numpy_helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
TENSOR, MAP, STRING = 1, 5, 8


class Tensor(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("dtype", c_int32), ("rank", c_int32), ("dims", POINTER(c_int64)),
                ("data", c_void_p), ("size", c_size_t), ("written", c_int32), ("reserved", c_int32)]


def call(name, *arguments):
    if getattr(sx, name)(*arguments) != 0:
        raise RuntimeError(f"{name}: {sx.sx_last_error().decode(errors='replace')}")


def made(name, *arguments):  # by a function that ends with the place for a handle
    call(name, *arguments, byref(handle := c_void_p()))
    return handle


def value_of(array):
    shape, rank = (c_int64 * array.ndim)(*array.shape), c_size_t(array.ndim)
    if array.dtype == object:
        strings = [text if isinstance(text, bytes) else text.encode() for text in array.flat]
        return made("sx_value_create_strings", shape, rank, (c_char_p * array.size)(*strings),
                    (c_size_t * array.size)(*map(len, strings)))
    return made("sx_value_create_tensor", mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype], shape, rank, array.tobytes(),
                c_size_t(array.nbytes))


def content_of(value):  # an array, a pair of arrays, or a list; destroys the value
    kind, count = sx.sx_value_kind(value), sx.sx_value_count(value)
    if kind == TENSOR:
        call("sx_value_tensor", value, byref(tensor := Tensor(ctypes.sizeof(Tensor))))
        if tensor.dtype == STRING:
            call("sx_value_strings", value, strings := (c_void_p * count)(), sizes := (c_size_t * count)(), c_size_t(count))
            content = np.array([ctypes.string_at(*pair) for pair in zip(strings, sizes)], object)
        else:
            content = np.frombuffer(ctypes.string_at(tensor.data, tensor.size) if tensor.size else b"",
                                    mapping.TENSOR_TYPE_TO_NP_TYPE[tensor.dtype])
        content = content.reshape(tensor.dims[:tensor.rank])
    elif kind == MAP:
        call("sx_value_map", value, byref(keys := c_void_p()), byref(values := c_void_p()))
        content = content_of(keys), content_of(values)
    else:
        content = [content_of(made("sx_value_item", value, c_size_t(i))) for i in range(count)]
    sx.sx_value_destroy(value)
    return content


def run(model, data, tolerance):
    session = made("sx_session_create", str(model / "model.onnx").encode(), None)
    binding = made("sx_binding_create", session)
    for i in range(len(list(data.glob("input_*.pb")))):
        array = numpy_helper.to_array(TensorProto.FromString((data / f"input_{i}.pb").read_bytes()))
        call("sx_binding_set_input_value", binding, c_size_t(i), value := value_of(array))
        sx.sx_value_destroy(value)
    call("sx_binding_run", binding, None)
    for i in range(sx.sx_session_output_count(session)):
        check(content_of(made("sx_binding_output_value", binding, c_size_t(i))), (data / f"output_{i}.pb").read_bytes(), tolerance)
        yield i
    sx.sx_binding_destroy(binding)
    sx.sx_session_destroy(session)


def check(got, file, tolerance):
    if not isinstance(got, list):
        return check_array(got, numpy_helper.to_array(TensorProto.FromString(file)), *tolerance)
    expected = SequenceProto.FromString(file)
    maps = [(m.string_keys or m.keys, numpy_helper.to_list(m.values)) for m in expected.map_values]
    items = maps or [numpy_helper.to_array(item) for item in expected.tensor_values]
    assert len(got) == len(items), f"{len(got)} items, expected {len(items)}"
    for item, wanted in zip(got, items):
        for part, wanted_part in zip(item, wanted) if maps else [(item, wanted)]:
            check_array(part, np.array(list(wanted_part), part.dtype) if maps else wanted_part, *tolerance)


def check_array(got, expected, rtol=1e-5, atol=1e-6, relative_to_max=0):
    if expected.dtype == object:
        expected = np.vectorize(lambda text: text if isinstance(text, bytes) else text.encode(), [object])(expected)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape), f"{got.dtype}{got.shape}, expected {expected.dtype}{expected.shape}"
    if got.dtype.kind != "f":
        return np.testing.assert_array_equal(got, expected)
    finite = np.abs(expected[np.isfinite(expected)])
    np.testing.assert_allclose(got, expected, rtol, atol + relative_to_max * finite.max(initial=0))


if len(sys.argv) < 3:
    sys.exit(__doc__)
sx = ctypes.CDLL(sys.argv[1])
sx.sx_last_error.restype, sx.sx_value_count.restype, sx.sx_session_output_count.restype = c_char_p, c_size_t, c_size_t
good, bad, models = 0, 0, 0
for folder in map(Path, sys.argv[2:]):
    manifest = folder / "MANIFEST.csv"
    rows = [line.split(",") for line in manifest.read_text().splitlines()[1:]] if manifest.exists() else []
    tolerances = {name: tuple(map(float, row)) for name, *row in rows}
    for model in sorted(path.parent for path in folder.glob("*/model.onnx")):
        models += 1
        for data in sorted(model.glob("test_data_set_*")):
            try:
                good += sum(1 for _ in run(model, data, tolerances.get(model.name, ())))
            except (RuntimeError, AssertionError, KeyError) as error:
                bad += 1
                print(f"{model.name}, {data.name}: {error}")
print(f"{models} models, {good} outputs as expected, {bad} runs not")
sys.exit(bad > 0 or good == 0)
