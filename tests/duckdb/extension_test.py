#!/usr/bin/env python3
"""extension_test.py EXTENSION MODEL: queries of DuckDB with the extension loaded, through DuckDB's C interface.

SARDONYX_DUCKDB names DuckDB's library; without it, or without the packages that make models (Debian's python3-numpy and
python3-onnx), this is skipped with exit code 77. The lines of CASES are a query and what it gives, or what its error says."""
import ctypes
import os
import sys
import tempfile
from ctypes import byref, c_char_p, c_uint64, c_void_p
from pathlib import Path

try:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper, save
    duckdb = ctypes.CDLL(os.environ["SARDONYX_DUCKDB"])
except (ImportError, KeyError) as error:
    print(f"skipped: {error}")
    sys.exit(77)
duckdb.duckdb_value_varchar.restype, duckdb.duckdb_result_error.restype = c_void_p, c_char_p
duckdb.duckdb_row_count.restype = duckdb.duckdb_column_count.restype = c_uint64


class Result(ctypes.Structure):
    _fields_ = [("deprecated", c_uint64 * 5), ("internal", c_void_p)]


def query(connection, text):
    """The rows of the result, a line of texts each; raises with the query's error."""
    result = Result()
    if duckdb.duckdb_query(connection, text.encode(), byref(result)) != 0:
        message = duckdb.duckdb_result_error(byref(result)).decode()
        duckdb.duckdb_destroy_result(byref(result))
        raise RuntimeError(message)
    rows = []
    for row in range(duckdb.duckdb_row_count(byref(result))):
        cells = []
        for column in range(duckdb.duckdb_column_count(byref(result))):
            place = duckdb.duckdb_value_varchar(byref(result), c_uint64(column), c_uint64(row))
            cells.append(ctypes.string_at(place).decode() if place else "NULL")
            duckdb.duckdb_free(c_void_p(place))
        rows.append(" | ".join(cells))
    duckdb.duckdb_destroy_result(byref(result))
    return rows


def save_model(folder, name, nodes, inputs, outputs, constants=()):
    values = [[helper.make_tensor_value_info(value, dtype, dims) for value, dtype, dims in side] for side in (inputs, outputs)]
    graph = helper.make_graph([helper.make_node(*node) for node in nodes], name, *values,
                              [numpy_helper.from_array(array, key) for key, array in constants])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / f"{name}.onnx")


def save_models(folder):
    number, whole, text = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
    save_model(folder, "sum", [("Add", ["a", "b"], ["y"])], [("a", number, ["n"]), ("b", number, ["n"])], [("y", number, ["n"])])
    save_model(folder, "linear", [("MatMul", ["x", "w"], ["y"])], [("x", number, ["n", 3])], [("y", number, ["n", 2])],
               [("w", np.array([[1, 0], [0, 1], [1, 1]], np.float32))])
    save_model(folder, "twice", [("Add", ["x", "x"], ["y"])], [("x", whole, ["n"])], [("y", whole, ["n"])])
    save_model(folder, "both", [("Neg", ["x"], ["minus"]), ("Abs", ["x"], ["size"])], [("x", number, ["n"])],
               [("minus", number, ["n"]), ("size", number, ["n"])])
    save_model(folder, "total", [("ReduceSum", ["x", "axes"], ["y"])], [("x", number, ["n", "k"])], [("y", number, ["n", 1])],
               [("axes", np.array([1], np.int64))])
    save_model(folder, "echo", [("Identity", ["x"], ["y"])], [("x", text, ["n"])], [("y", text, ["n"])])


CASES = [  # {} is the folder of the models
    ("SELECT onnx_predict('{}/sum.onnx', 1.5, 2)[1]", ["3.5"]),
    ("SELECT onnx_predict('{}/linear.onnx', 1, 2, 10)::VARCHAR", ["[11.0, 12.0]"]),
    ("SELECT onnx_predict('{}/linear.onnx', [1, 2, 10])::VARCHAR", ["[11.0, 12.0]"]),
    ("SELECT onnx_predict('{}/twice.onnx', i)[1] FROM range(3) t(i)", ["0.0", "2.0", "4.0"]),
    ("SELECT sum(onnx_predict('{}/twice.onnx', i)[1]) FROM range(100000) t(i)", ["9999900000.0"]),
    ("SELECT onnx_predict('{}/sum.onnx', x, 1)[1] FROM (VALUES (1), (NULL), (3)) t(x)", ["2.0", "NULL", "4.0"]),
    ("SELECT onnx_predict('{}/total.onnx', x)[1] FROM (VALUES ([1, 2]), ([5]), ([1, 2, 3])) t(x)", ["3.0", "5.0", "6.0"]),
    ("SELECT onnx_predict_text('{}/echo.onnx', 'straße')[1]", ["straße"]),
    ("SELECT onnx_predict('{}/sum.onnx', 1, 2)[1] WHERE false", []),
    ("SELECT named(1.25)::VARCHAR, typeof(named(1.25))", ["{'minus': -1.25, 'size': 1.25} | STRUCT(minus FLOAT, size FLOAT)"]),
    # Chunks whose rows are all there, and chunks in which some are not.
    ("SELECT sum(onnx_predict('{}/linear.onnx', i::TINYINT, -i, 0.5)[1]) FROM range(100) t(i)", ["5000.0"]),
    ("SELECT sum(onnx_predict('{}/linear.onnx', i, CASE WHEN i % 7 = 1 THEN NULL ELSE 1 END, 0)[1]), count(*)"
     " FROM range(7000) t(i)", ["20999000.0 | 7000"]),
    ("SELECT sum(onnx_predict('{}/linear.onnx', [i, 2, 3])[2]) FROM range(5000) t(i)", ["25000.0"]),
    ("SELECT sum(onnx_predict('{}/linear.onnx', [i, 2, 3]::FLOAT[3])[1]) FROM range(5000) t(i)", ["12512500.0"]),
    ("SELECT sum(onnx_predict('{}/total.onnx', range(i % 3 + 1))[1]) FROM range(3000) t(i)", ["4000.0"]),
    ("SELECT sum(n.minus), sum(n.size), count(n) FROM (SELECT named(i - 2) n FROM range(5000) t(i))",
     ["-12487500.0 | 12487506.0 | 5000"]),
    ("SELECT sum(n.minus), count(n.minus), count(*) FROM (SELECT named(nullif(i, 4999)) n FROM range(5000) t(i))",
     ["-12492501.0 | 4999 | 5000"]),
    ("SELECT sum(length(onnx_predict_text('{}/echo.onnx', i::VARCHAR)[1])) FROM range(5000) t(i)", ["18890"]),
    ("SELECT onnx_predict('{}/linear.onnx', [1, 2], 3, 4)", "a list among the columns"),
    ("SELECT onnx_predict('{}/absent.onnx', 1)", "absent.onnx"),
    ("SELECT onnx_predict('{}/twice.onnx', 1.5)", "twice.onnx"),
    ("SELECT onnx_predict('{}/sum.onnx', 1)", "sum.onnx"),
    ("SELECT onnx_predict('{}/echo.onnx', 'a')", "onnx_predict_text"),
]


def connect(extension):
    """A database in memory with the extension loaded, and a connection to it."""
    settings, database, connection = c_void_p(), c_void_p(), c_void_p()
    duckdb.duckdb_create_config(byref(settings))
    duckdb.duckdb_set_config(settings, b"allow_unsigned_extensions", b"true")
    if duckdb.duckdb_open_ext(None, byref(database), settings, None) != 0:
        sys.exit("DuckDB opens no database")
    duckdb.duckdb_connect(database, byref(connection))
    query(connection, f"LOAD '{extension}'")
    return database, connection


def outcome(connection, text):
    try:
        return query(connection, text)
    except RuntimeError as error:
        return str(error)


def main(extension):
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_models(folder)
        os.environ["SARDONYX_DUCKDB_MODELS"] = f"named={folder}/both.onnx"
        database, connection = connect(extension)
        for text, expected in CASES:
            got = outcome(connection, text.format(folder))
            good = expected in got if isinstance(expected, str) and isinstance(got, str) else got == expected
            if not good:
                failed += 1
                print(f"{text}\n  expected {expected}\n  got      {got}")
        duckdb.duckdb_disconnect(byref(connection))
        duckdb.duckdb_close(byref(database))
    print(f"{len(CASES) - failed} of {len(CASES)} queries as expected")
    return failed != 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(os.path.realpath(sys.argv[1])))
