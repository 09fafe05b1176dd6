"""session(library, path) opens a model by ctypes; called with arrays it gives all outputs: arrays (strings as objects), lists
of sequences and optionals, pairs of keys and values of maps."""
import ctypes
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_size_t, c_void_p
import numpy as np
from onnx import mapping

TENSOR, MAP, STRING = 1, 5, 8

class Tensor(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("dtype", c_int32), ("rank", c_int32), ("dims", POINTER(c_int64)),
                ("data", c_void_p), ("size", c_size_t), ("written", c_int32), ("reserved", c_int32)]

def session(sx, path):
    sx.sx_last_error.restype, sx.sx_value_count.restype, sx.sx_session_output_count.restype = c_char_p, c_size_t, c_size_t
    class Handle(c_void_p):
        kind = "sx_value"
        __del__ = lambda self: getattr(sx, self.kind + "_destroy")(self)
    def call(name, *arguments):
        if getattr(sx, name)(*arguments) != 0:
            raise RuntimeError(f"{name}: {sx.sx_last_error().decode(errors='replace')}")
    def made(name, *arguments):  # by a function that ends with the place for a handle
        call(name, *arguments, byref(handle := Handle()))
        handle.kind = name.removesuffix("_create") if name.endswith("_create") else "sx_value"
        return handle
    def value_of(array):
        shape, rank, count = (c_int64 * array.ndim)(*array.shape), c_size_t(array.ndim), array.size
        if array.dtype != object:
            return made("sx_value_create_tensor", mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype], shape, rank, array.tobytes(), c_size_t(array.nbytes))
        texts = [text if isinstance(text, bytes) else text.encode() for text in array.flat]
        return made("sx_value_create_strings", shape, rank, (c_char_p * count)(*texts), (c_size_t * count)(*map(len, texts)))
    def content_of(value):
        kind, count = sx.sx_value_kind(value), sx.sx_value_count(value)
        if kind == MAP:
            call("sx_value_map", value, byref(keys := Handle()), byref(values := Handle()))
            return content_of(keys), content_of(values)
        if kind != TENSOR:
            return [content_of(made("sx_value_item", value, c_size_t(i))) for i in range(count)]
        call("sx_value_tensor", value, byref(tensor := Tensor(ctypes.sizeof(Tensor))))
        if tensor.dtype != STRING:
            dtype, data = mapping.TENSOR_TYPE_TO_NP_TYPE[tensor.dtype], ctypes.string_at(tensor.data, tensor.size)
            return np.frombuffer(data, dtype).reshape(tensor.dims[:tensor.rank])
        call("sx_value_strings", value, texts := (c_void_p * count)(), sizes := (c_size_t * count)(), c_size_t(count))
        return np.array([ctypes.string_at(*pair) for pair in zip(texts, sizes)], object).reshape(tensor.dims[:tensor.rank])
    binding = made("sx_binding_create", opened := made("sx_session_create", str(path).encode(), None))
    def run(arrays):
        for i, array in enumerate(arrays):
            call("sx_binding_set_input_value", binding, c_size_t(i), value_of(array))
        call("sx_binding_run", binding, None)
        return [content_of(made("sx_binding_output_value", binding, c_size_t(i))) for i in range(sx.sx_session_output_count(opened))]
    return run
