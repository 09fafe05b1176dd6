"""ONNX's own backend tests, where the installed onnx package has its cases (Debian: libonnx-testdata)."""
import os
import unittest

import numpy
import onnx.backend.test

from sardonyx.backend import SardonyxBackend

# onnx 1.12 still names types that NumPy dropped in 1.24.
for name in ("object", "bool"):
    if name not in vars(numpy):
        setattr(numpy, name, {"object": object, "bool": bool}[name])

_data = os.path.join(os.path.dirname(onnx.backend.test.__file__), "data")
if os.path.isdir(_data):
    _tests = onnx.backend.test.BackendTest(SardonyxBackend, __name__)
    _tests.exclude("_cuda$")
    # Models that are fetched from elsewhere.
    _tests.exclude(
        "^test_(bvlc_alexnet|densenet121|inception_v1|inception_v2|resnet50|shufflenet|squeezenet|vgg19|zfnet512)_"
    )
    # Drawn at random; a model without an attribute that it needs; bfloat16 that is stored as uint16.
    _tests.exclude("^test_(bernoulli|training_dropout|adam_multiple)")
    _tests.exclude("BFLOAT16")
    # A sequence of scalars, whose lengths the runner of onnx 1.12 asks for.
    _tests.exclude("^test_loop16_seq_none")
    globals().update(_tests.test_cases)
else:

    class Cases(unittest.TestCase):
        def test_are_there(self):
            self.skipTest("no ONNX cases in " + _data + ": install libonnx-testdata")


if __name__ == "__main__":
    unittest.main()
