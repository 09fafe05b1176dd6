"""ModelCompiler, and operators of libraries that were written for ONNX Runtime."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import sardonyx as ort

import models

ROOT = pathlib.Path(__file__).resolve().parents[3]
W = np.arange(64, dtype=np.float32)
X = np.full(64, 2, np.float32)


def doubled_sum():
    """y = x + (w + w), which the levels above ORT_DISABLE_ALL fold."""
    return models.model_of(
        [helper.make_node("Add", ["w", "w"], ["ww"]), helper.make_node("Add", ["x", "ww"], ["y"])],
        [("x", TensorProto.FLOAT, [64])],
        [("y", TensorProto.FLOAT, [64])],
        initializers=[numpy_helper.from_array(W, "w")],
    )


def ops_of(model):
    return [node.op_type for node in onnx.load_from_string(model).graph.node]


class Compiler(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model = os.path.join(folder.name, "model.onnx")
        pathlib.Path(self.model).write_bytes(doubled_sum())

    def path(self, name):
        return os.path.join(self.folder, name)

    def expect_sum(self, model):
        np.testing.assert_array_equal(ort.InferenceSession(model).run(None, {"x": X})[0], X + 2 * W)

    def test_to_files(self):
        compiler = ort.ModelCompiler(ort.SessionOptions(), self.model)
        compiler.compile_to_file(self.path("out.onnx"))
        self.expect_sum(self.path("out.onnx"))
        compiler.compile_to_file()
        self.expect_sum(self.path("model_ctx.onnx"))
        ort.ModelCompiler(
            ort.SessionOptions(), self.model, external_initializers_file_path="weights.bin",
            external_initializers_size_threshold=16,
        ).compile_to_file(self.path("apart.onnx"))
        self.assertGreaterEqual(os.path.getsize(self.path("weights.bin")), W.nbytes)
        self.expect_sum(self.path("apart.onnx"))

    def test_to_bytes(self):
        made = ort.ModelCompiler(ort.SessionOptions(), doubled_sum()).compile_to_bytes()
        self.assertIsInstance(made, bytes)
        self.assertEqual(ops_of(made), ["Add", "Add"])
        self.expect_sum(made)
        basic = ort.ModelCompiler(
            ort.SessionOptions(), self.model, graph_optimization_level=ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        ).compile_to_bytes()
        self.assertEqual(ops_of(basic), ["Add"])
        self.expect_sum(basic)

    def test_to_functions(self):
        parts = []
        compiler = ort.ModelCompiler(ort.SessionOptions(), self.model)
        compiler.compile_to_stream(parts.append)
        self.expect_sum(b"".join(parts))

        def refuse(part):
            raise ValueError("no %s more" % type(part).__name__)

        with self.assertRaisesRegex(ort.Fail, "no bytes more"):
            compiler.compile_to_stream(refuse)

    def test_a_function_places_initializers(self):
        seen = []
        place = self.path("own.bin")

        def located(name, value, info):
            seen.append((name, value.numpy().tolist(), info))
            pathlib.Path(place).write_bytes(value.numpy().tobytes())
            return ort.OrtExternalInitializerInfo("own.bin", 0, value.tensor_size_in_bytes())

        compile_to = self.path("own.onnx")
        ort.ModelCompiler(ort.SessionOptions(), self.model, get_initializer_location_func=located).compile_to_file(compile_to)
        self.assertEqual(seen, [("w", W.tolist(), None)])
        self.expect_sum(compile_to)

        def kept(name, value, info):
            seen.append((info.filepath, info.file_offset, info.byte_size))
            return info

        ort.ModelCompiler(ort.SessionOptions(), compile_to, get_initializer_location_func=kept).compile_to_file(
            self.path("again.onnx")
        )
        self.assertEqual(seen[1:], [("own.bin", 0, W.nbytes)])
        self.expect_sum(self.path("again.onnx"))

    def test_what_does_not_fit_is_refused(self):
        options, out = ort.SessionOptions(), self.path("out.onnx")
        flags = ort.OrtCompileApiFlags
        with self.assertRaisesRegex(ort.Fail, "Unable to compile any nodes"):
            ort.ModelCompiler(options, self.model, flags=flags.ERROR_IF_NO_NODES_COMPILED).compile_to_file(out)
        self.assertFalse(os.path.exists(out))
        compiler = ort.ModelCompiler(options, self.model, flags=flags.ERROR_IF_OUTPUT_FILE_EXISTS)
        compiler.compile_to_file(out)
        with self.assertRaisesRegex(ort.Fail, "exists already"):
            compiler.compile_to_file(out)
        for model, error in (("", ValueError), (b"", ValueError), (3, TypeError)):
            with self.assertRaises(error):
                ort.ModelCompiler(options, model)
        with self.assertRaisesRegex(ort.InvalidArgument, "does not exist"):
            ort.ModelCompiler(options, self.path("none.onnx")).compile_to_bytes()
        with self.assertRaises(ort.InvalidProtobuf):
            ort.ModelCompiler(options, b"no model").compile_to_bytes()


@unittest.skipUnless(shutil.which("cc"), "no C compiler")
class OpLibraries(unittest.TestCase):
    def test_operators_of_a_library_run(self):
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "libscaled.so")
            source = ROOT / "tests/ort_abi/custom_op_library.c"
            subprocess.run(["cc", "-shared", "-fPIC", "-I", str(ROOT), "-o", library, str(source)], check=True)
            options = ort.SessionOptions()
            options.register_custom_ops_library(library)
        model = models.model_of(
            [helper.make_node("Scaled", ["x"], ["y"], domain="test.library", factor=2.5)],
            [("x", TensorProto.FLOAT, ["n"])],
            [("y", TensorProto.FLOAT, ["n"])],
            opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("test.library", 1)],
        )
        for given in (options, ort.SessionOptions(options)):
            session = ort.InferenceSession(model, given)
            np.testing.assert_array_equal(session.run(None, {"x": W})[0], W * 2.5)
        compiled = ort.ModelCompiler(options, model).compile_to_bytes()
        np.testing.assert_array_equal(ort.InferenceSession(compiled, options).run(None, {"x": W})[0], W * 2.5)
        with self.assertRaisesRegex(RuntimeError, "Scaled"):
            ort.InferenceSession(model)


if __name__ == "__main__":
    unittest.main()
