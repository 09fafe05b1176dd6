#!/usr/bin/env python3
"""run_models.py LIBRARY FOLDER...: runs models through the C interface, with nothing but ctypes.

Each FOLDER holds models as NAME/model.onnx with NAME/test_data_set_K/{input,output}_J.pb, and
perhaps a MANIFEST.csv of tolerances. All outputs of all kinds are compared with what is expected.
"""
import ctypes
import math
import struct
import sys
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_size_t, c_void_p
from pathlib import Path

FORMATS = {1: "f", 2: "B", 3: "b", 4: "H", 5: "h", 6: "i", 7: "q", 9: "?", 10: "e", 11: "d", 12: "I", 13: "Q"}
TENSOR, SEQUENCE, MAP, STRING = 1, 3, 5, 8


class Tensor(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("dtype", c_int32), ("rank", c_int32), ("dims", POINTER(c_int64)),
                ("data", c_void_p), ("size", c_size_t), ("written", c_int32), ("reserved", c_int32)]


# ---- Files of test data: a value is (dtype, dims, elements), [(keys, values)] or a list of values


def fields(data):
    """The fields of a protobuf message: {number: [int or bytes]}."""
    found, at = {}, 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        size = {0: 0, 1: 8, 5: 4}.get(key & 7)
        size = varint() if size is None else size
        found.setdefault(key >> 3, []).append(data[at:at + size] if key & 7 else varint())
        at += size
    return found


def numbers(entries, signed=True):
    """Varints, packed or not."""
    result = []
    for entry in entries:
        if isinstance(entry, int):
            result.append(entry)
            continue
        value = shift = 0
        for byte in entry:
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                result.append(value)
                value = shift = 0
    return [v - (1 << 64) if signed and v >> 63 else v for v in result]


def read_tensor(data):
    message = fields(data)
    dims, dtype = numbers(message.get(1, [])), message[2][0]
    if dtype == STRING:
        return dtype, dims, message.get(6, [])
    raw = b"".join(message.get(9, []) + message.get(4, []) + message.get(10, []))
    typed = numbers(message.get(5, []) + message.get(7, []) + message.get(11, []), signed=dtype != 13)
    if typed and dtype == 10:  # bits of half-precision floats
        raw = struct.pack(f"<{len(typed)}H", *typed)
    elif typed:
        return dtype, dims, typed
    return dtype, dims, struct.unpack(f"<{len(raw) // struct.calcsize(FORMATS[dtype])}{FORMATS[dtype]}", raw)


def read_sequence(data):
    message = fields(data)
    return ([read_tensor(item) for item in message.get(3, [])] + [read_sequence(item) for item in message.get(5, [])]
            + [read_map(item) for item in message.get(6, [])])


def read_map(data):
    message = fields(data)
    values = [value[2][0] for value in read_sequence(message[5][0])]
    return message[4] if 4 in message else numbers(message.get(3, [])), values


# ---- The library


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.sx_last_error.restype = c_char_p
        self.c.sx_value_count.restype = self.c.sx_session_output_count.restype = c_size_t

    def make(self, name, *arguments):
        """Calls a function that ends with the place for a handle."""
        handle = c_void_p()
        self.call(name, *arguments, byref(handle))
        return handle

    def call(self, name, *arguments):
        if getattr(self.c, name)(*arguments) != 0:
            raise RuntimeError(f"{name}: {self.c.sx_last_error().decode(errors='replace')}")

    def value_of(self, tensor):
        dtype, dims, elements = tensor
        shape, rank = (c_int64 * len(dims))(*dims), c_size_t(len(dims))
        if dtype == STRING:
            sizes = (c_size_t * len(elements))(*map(len, elements))
            return self.make("sx_value_create_strings", shape, rank, (c_char_p * len(elements))(*elements), sizes)
        data = struct.pack(f"<{len(elements)}{FORMATS[dtype]}", *elements)
        return self.make("sx_value_create_tensor", dtype, shape, rank, data, c_size_t(len(data)))

    def content_of(self, value):
        """Of a value, which is destroyed: what the functions above read."""
        kind, count = self.c.sx_value_kind(value), self.c.sx_value_count(value)
        if kind == TENSOR:
            content = self.tensor_of(value, count)
        elif kind == MAP:
            keys, values = c_void_p(), c_void_p()
            self.call("sx_value_map", value, byref(keys), byref(values))
            content = self.content_of(keys)[2], self.content_of(values)[2]
        else:
            content = [self.content_of(self.make("sx_value_item", value, c_size_t(i))) for i in range(count)]
        self.c.sx_value_destroy(value)
        return content

    def tensor_of(self, value, count):
        tensor = Tensor(struct_size=ctypes.sizeof(Tensor))
        self.call("sx_value_tensor", value, byref(tensor))
        dims = tensor.dims[:tensor.rank]
        if tensor.dtype == STRING:
            strings, sizes = (c_void_p * count)(), (c_size_t * count)()
            self.call("sx_value_strings", value, strings, sizes, c_size_t(count))
            return STRING, dims, [ctypes.string_at(strings[i], sizes[i]) for i in range(count)]
        data = ctypes.string_at(tensor.data, tensor.size) if tensor.size else b""
        return tensor.dtype, dims, struct.unpack(f"<{count}{FORMATS[tensor.dtype]}", data)

    def run(self, model, folder):
        """Gives how many outputs are as expected, and what is wrong with the others."""
        session = self.make("sx_session_create", str(model / "model.onnx").encode(), None)
        good, bad = 0, []
        for data in sorted(model.glob("test_data_set_*")):
            binding = self.make("sx_binding_create", session)
            for i in range(len(list(data.glob("input_*.pb")))):
                value = self.value_of(read_tensor((data / f"input_{i}.pb").read_bytes()))
                self.call("sx_binding_set_input_value", binding, c_size_t(i), value)
                self.c.sx_value_destroy(value)
            self.call("sx_binding_run", binding, None)
            for i in range(self.c.sx_session_output_count(session)):
                content = self.content_of(self.make("sx_binding_output_value", binding, c_size_t(i)))
                read = read_sequence if isinstance(content, list) else read_tensor
                problem = difference(content, read((data / f"output_{i}.pb").read_bytes()), folder.get(model.name))
                good, bad = good + (not problem), bad + ([f"{data.name} output {i}: {problem}"] if problem else [])
            self.c.sx_binding_destroy(binding)
        self.c.sx_session_destroy(session)
        return good, bad


# ---- Comparison


def difference(got, expected, tolerance):
    """Where two contents differ; "" where they don't."""
    if isinstance(expected, list):
        if len(got) != len(expected):
            return f"{len(got)} items, expected {len(expected)}"
        return next(filter(None, (difference(g, e, tolerance) for g, e in zip(got, expected))), "")
    *got_head, got_elements = got
    *expected_head, expected_elements = expected
    if [list(h) if isinstance(h, (list, tuple)) else h for h in got_head] != \
            [list(h) if isinstance(h, (list, tuple)) else h for h in expected_head]:
        return f"{got_head}, expected {expected_head}"
    if len(got_elements) != len(expected_elements):
        return f"{len(got_elements)} elements, expected {len(expected_elements)}"
    rtol, atol, relative_to_max = tolerance or (1e-5, 1e-6, 0)
    largest = max((abs(e) for e in expected_elements if isinstance(e, float) and math.isfinite(e)), default=0)
    for i, (g, e) in enumerate(zip(got_elements, expected_elements)):
        same = g == e or isinstance(e, float) and (
            math.isnan(g) and math.isnan(e) or abs(g - e) <= atol + rtol * abs(e) + relative_to_max * largest)
        if not same:
            return f"element {i} is {g}, expected {e}"
    return ""


def tolerances(folder):
    path = folder / "MANIFEST.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]] if path.exists() else []
    return {name: tuple(map(float, row)) for name, *row in rows}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    library, models, outputs, wrong = Library(sys.argv[1]), 0, 0, 0
    for folder in map(Path, sys.argv[2:]):
        for model in sorted(path.parent for path in folder.glob("*/model.onnx")):
            try:
                good, bad = library.run(model, tolerances(folder))
            except (RuntimeError, KeyError, struct.error) as error:
                good, bad = 0, [str(error)]
            models, outputs, wrong = models + 1, outputs + good, wrong + len(bad)
            for problem in bad:
                print(f"{model.name}: {problem}")
    print(f"{models} models, {outputs} outputs as expected, {wrong} not")
    sys.exit(wrong > 0 or outputs == 0)


main()
