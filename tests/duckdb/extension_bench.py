#!/usr/bin/env python3
"""extension_bench.py EXTENSION LIBRARY [ROWS]: time per row of a model in a query, and of the same rows given to the session
in process (sx_binding_run, 2048 rows at a time), in turns on one thread; medians of seven.

LIBRARY is libsardonyx.so; SARDONYX_DUCKDB names DuckDB's library. What the query costs without the model (the sum of its
columns) is shown beside it, and is not part of the ratio."""
import ctypes
import os
import statistics
import sys
import tempfile
import time
from ctypes import byref, c_char_p, c_int64, c_size_t, c_void_p
from pathlib import Path

import numpy as np
from onnx import TensorProto

sys.path.insert(0, str(Path(__file__).parent))
from extension_test import connect, query, save_model  # noqa: E402

FEATURES, BATCH, TURNS = 16, 2048, 7


def save_models(folder):
    draw = np.random.default_rng(1)
    x, y = ("x", TensorProto.FLOAT, ["n", FEATURES]), ("y", TensorProto.FLOAT, ["n", 1])
    for width in (32, 128, 256):
        shapes = {"a": (FEATURES, width), "b": (width, width), "c": (width, 1)}
        constants = [(name, draw.normal(size=shape).astype(np.float32) / 8) for name, shape in shapes.items()]
        nodes = [("MatMul", ["x", "a"], ["h"]), ("Relu", ["h"], ["i"]), ("MatMul", ["i", "b"], ["j"]), ("Relu", ["j"], ["k"]),
                 ("MatMul", ["k", "c"], ["y"])]
        save_model(folder, f"mlp{width}", nodes, [x], [y], constants)


class Session:
    def __init__(self, library, path):
        self.sx = ctypes.CDLL(library)
        self.sx.sx_last_error.restype = c_char_p
        self.session, self.binding = c_void_p(), c_void_p()
        self.check(self.sx.sx_session_create(str(path).encode(), None, byref(self.session)))
        self.check(self.sx.sx_binding_create(self.session, byref(self.binding)))

    def check(self, status):
        if status != 0:
            sys.exit(self.sx.sx_last_error().decode())

    def run(self, rows):
        for begin in range(0, len(rows), BATCH):
            part = rows[begin:begin + BATCH]
            self.check(self.sx.sx_binding_set_input(self.binding, c_size_t(0), TensorProto.FLOAT, (c_int64 * 2)(*part.shape),
                                                    c_size_t(2), part.ctypes.data_as(c_void_p), c_size_t(part.nbytes)))
            self.check(self.sx.sx_binding_run(self.binding, None))


def seconds(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def main(extension, library, count):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_models(folder)
        _, connection = connect(extension)
        query(connection, "SET threads = 1")
        columns = ", ".join(f"c{i}" for i in range(FEATURES))
        made = ", ".join(f"(hash(i * {FEATURES} + {i}) % 1000 / 500.0 - 1)::FLOAT AS c{i}" for i in range(FEATURES))
        query(connection, f"CREATE TABLE t AS SELECT {made} FROM range({count}) r(i)")
        rows = np.random.default_rng(2).uniform(-1, 1, (count, FEATURES)).astype(np.float32)
        print("us a row: model, query, query without the model, in process, in process / what the model adds to the query")
        for model in sorted(folder.glob("*.onnx")):
            session = Session(library, model)
            plain = f"SELECT sum({columns.replace(', ', ' + ')}) FROM t"
            scored = f"SELECT sum(onnx_predict('{model}', {columns})[1]) FROM t"
            calls = [lambda: query(connection, scored), lambda: query(connection, plain), lambda: session.run(rows)]
            times = [statistics.median(column) * 1e6 / count
                     for column in zip(*([seconds(call) for call in calls] for _ in range(TURNS + 1)))]
            query_us, plain_us, own_us = times
            print(f"{model.stem:8} {query_us:6.2f} {plain_us:6.2f} {own_us:6.2f} {own_us / (query_us - plain_us):6.2f}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    os.environ["SARDONYX_NUM_THREADS"] = "1"
    main(os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 200_000)
