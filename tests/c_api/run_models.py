#!/usr/bin/python3
"""run_models.py LIBRARY FOLDER...: runs models through the C interface, from Python by ctypes, and compares all outputs.

Each FOLDER holds models as NAME/model.onnx with NAME/test_data_set_K/{input,output}_J.pb, and perhaps a MANIFEST.csv of
tolerances. Exit code 77 without the packages that read these files (Debian's python3-numpy and python3-onnx)."""
import ctypes
import sys
from pathlib import Path

try:
    import numpy as np
    from onnx import SequenceProto, TensorProto, numpy_helper

    from session import session
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def run(opened, data, tolerance):
    inputs = [data / f"input_{i}.pb" for i in range(len(list(data.glob("input_*.pb"))))]
    outputs = opened([numpy_helper.to_array(TensorProto.FromString(path.read_bytes())) for path in inputs])
    for i, output in enumerate(outputs):
        check(output, (data / f"output_{i}.pb").read_bytes(), tolerance)
    return len(outputs)


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
good, bad, models = 0, 0, 0
for folder in map(Path, sys.argv[2:]):
    manifest = folder / "MANIFEST.csv"
    rows = [line.split(",") for line in manifest.read_text().splitlines()[1:]] if manifest.exists() else []
    tolerances = {name: tuple(map(float, row)) for name, *row in rows}
    for model in sorted(path.parent for path in folder.glob("*/model.onnx")):
        models += 1
        for data in sorted(model.glob("test_data_set_*")):
            try:
                good += run(session(sx, model / "model.onnx"), data, tolerances.get(model.name, ()))
            except (RuntimeError, AssertionError, KeyError) as error:
                bad += 1
                print(f"{model.name}, {data.name}: {error}")
print(f"{models} models, {good} outputs as expected, {bad} runs not")
sys.exit(bad > 0 or good == 0)
