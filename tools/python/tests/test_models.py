"""Functions on model files, and ONNX's backend interface."""
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

import sardonyx
from sardonyx import backend
from sardonyx.backend import backend as backend_names

import models


class Models(unittest.TestCase):
    def test_check(self):
        self.assertEqual(sardonyx.check_model(models.unary("Relu")), [])
        problems = sardonyx.check_model(models.unary("NoSuchOp"))
        self.assertIn("NoSuchOp", problems[0][1])

    def test_infer_shapes(self):
        nodes = [helper.make_node("Transpose", ["x"], ["t"]), helper.make_node("Relu", ["t"], ["y"])]
        model = models.model_of(nodes, [("x", TensorProto.FLOAT, [2, "n"])], [("y", TensorProto.FLOAT, None)])
        inferred = onnx.load_from_string(sardonyx.infer_shapes(model))
        shapes = {
            v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim]
            for v in list(inferred.graph.value_info) + list(inferred.graph.output)
        }
        self.assertEqual(shapes, {"t": ["n", 2], "y": ["n", 2]})

    def test_convert(self):
        model = onnx.load_from_string(sardonyx.convert_version(models.unary("Relu"), 13))
        self.assertEqual([i.version for i in model.opset_import if i.domain == ""], [13])
        onnx.checker.check_model(model)

    def test_optimize(self):
        nodes = [helper.make_node("Identity", ["x"], ["t"]), helper.make_node("Relu", ["t"], ["y"])]
        model = models.model_of(nodes, [("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2])])
        optimized = onnx.load_from_string(sardonyx.optimize(model))
        self.assertEqual([n.op_type for n in optimized.graph.node], ["Relu"])


class Backend(unittest.TestCase):
    def test_run_node(self):
        node = helper.make_node("Concat", ["a", "b"], ["y"], axis=0)
        (y,) = backend.run_node(node, [np.float32([1]), np.float32([2])])
        np.testing.assert_array_equal(y, [1, 2])

    def test_prepare(self):
        model = onnx.load_from_string(models.affine())
        ready = backend.prepare(model)
        a = np.float32([[1], [2]])
        np.testing.assert_array_equal(ready.run([a, a])[0], a + a)
        np.testing.assert_array_equal(ready.run({"a": a, "b": a})[1], a * a)
        self.assertTrue(backend.supports_device("CPU") and not backend.supports_device("CUDA:1"))
        self.assertTrue(backend.is_compatible(model))
        self.assertIs(backend_names.OnnxRuntimeBackend, backend.SardonyxBackend)
        self.assertFalse(backend.is_compatible(onnx.load_from_string(models.unary("NoSuchOp"))))


if __name__ == "__main__":
    unittest.main()
