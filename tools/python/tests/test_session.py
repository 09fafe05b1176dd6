"""InferenceSession as users of onnxruntime know it."""
import gc
import os
import pathlib
import sys
import tempfile
import threading
import time
import unittest
import warnings

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import sardonyx as ort

import models


class Sessions(unittest.TestCase):
    def test_takes_bytes_a_path_and_a_model_proto(self):
        x = np.float32([[-1, 0, 2]])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "relu.onnx"
            path.write_bytes(models.unary("Relu"))
            for model in (models.unary("Relu"), bytearray(models.unary("Relu")), str(path), path):
                (y,) = ort.InferenceSession(model).run(None, {"x": x})
                np.testing.assert_array_equal(y, [[0, 0, 2]])

    def test_outputs_come_in_the_order_asked(self):
        session = ort.InferenceSession(models.affine())
        feed = {"a": np.float32([[1], [2]]), "b": np.float32([[3], [4]])}
        product, total, again = session.run(["product", "sum", "product"], feed)
        np.testing.assert_array_equal(product, [[3], [8]])
        np.testing.assert_array_equal(total, [[4], [6]])
        np.testing.assert_array_equal(again, product)
        self.assertEqual(len(session.run([], feed)), 2)

    def test_tells_names_types_and_shapes(self):
        session = ort.InferenceSession(models.affine())
        a, b = session.get_inputs()
        self.assertEqual((a.name, a.type, a.shape), ("a", "tensor(float)", [2, "n"]))
        self.assertEqual(b.name, "b")
        self.assertEqual([o.name for o in session.get_outputs()], ["sum", "product"])
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])

    def test_tells_metadata(self):
        meta = ort.InferenceSession(models.affine()).get_modelmeta()
        self.assertEqual(meta.producer_name, "tests")
        self.assertEqual(meta.domain, "org.example")
        self.assertEqual(meta.version, 7)
        self.assertEqual(meta.description, "two results")
        self.assertEqual(meta.graph_name, "graph")
        self.assertEqual(meta.graph_description, "a graph")
        self.assertEqual(meta.custom_metadata_map, {})

    def test_defaults_of_inputs_may_be_overridden(self):
        session = ort.InferenceSession(models.with_default())
        self.assertEqual([i.name for i in session.get_inputs()], ["x"])
        self.assertEqual([i.name for i in session.get_overridable_initializers()], ["w"])
        x = np.float32([10, 10])
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], [11, 12])
        np.testing.assert_array_equal(session.run(None, {"x": x, "w": np.float32([5, 6])})[0], [15, 16])
        np.testing.assert_array_equal(session.run(None, {"x": x, "w": None})[0], [11, 12])

    def test_an_initializer_may_be_given_with_the_options(self):
        options = ort.SessionOptions()
        options.add_initializer("w", ort.OrtValue.ortvalue_from_numpy(np.float32([3, 4])))
        session = ort.InferenceSession(models.with_default(), options)
        np.testing.assert_array_equal(session.run(None, {"x": np.float32([0, 0])})[0], [3, 4])

    def test_options_and_providers(self):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        options.add_session_config_entry("session.set_denormal_as_zero", "1")
        self.assertEqual(options.get_session_config_entry("session.set_denormal_as_zero"), "1")
        session = ort.InferenceSession(models.unary("Neg"), options, providers=["CPUExecutionProvider"])
        self.assertIs(session.get_session_options(), options)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ort.InferenceSession(models.unary("Neg"), providers=["NoSuchProvider", ("CPUExecutionProvider", {})])
        self.assertIn("NoSuchProvider", str(caught[0].message))
        with self.assertRaises(AttributeError):
            options.intra_op_threads = 2
        with self.assertRaises(TypeError):
            ort.InferenceSession(models.unary("Neg"), thread_count=3)

    def test_what_it_rewrote_is_saved_where_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            options = ort.SessionOptions()
            options.optimized_model_filepath = os.path.join(folder, "optimized.onnx")
            ort.InferenceSession(models.unary("Neg"), options)
            again = ort.InferenceSession(options.optimized_model_filepath)
            np.testing.assert_array_equal(again.run(None, {"x": np.float32([[1, 2, 3]])})[0], [[-1, -2, -3]])

    def test_the_saved_model_has_the_sizes_that_dims_were_given(self):
        with tempfile.TemporaryDirectory() as folder:
            for level in (ort.GraphOptimizationLevel.ORT_DISABLE_ALL, ort.GraphOptimizationLevel.ORT_ENABLE_ALL):
                options = ort.SessionOptions()
                options.optimized_model_filepath = os.path.join(folder, "sized.onnx")
                options.graph_optimization_level = level
                options.add_free_dimension_override_by_name("n", 2)
                ort.InferenceSession(models.unary("Neg"), options)
                again = ort.InferenceSession(options.optimized_model_filepath)
                self.assertEqual(again.get_inputs()[0].shape, [2, 3])

    def test_a_name_or_an_entry_asks_for_onnxruntimes_format(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, chosen, is_ort in (("a.ort", "", True), ("b.onnx", "ORT", True), ("c.ort", "ONNX", False)):
                options = ort.SessionOptions()
                options.optimized_model_filepath = os.path.join(folder, name)
                if chosen:
                    options.add_session_config_entry("session.save_model_format", chosen)
                ort.InferenceSession(models.unary("Neg"), options)
                with open(options.optimized_model_filepath, "rb") as file:
                    contents = file.read()
                self.assertEqual(contents[4:8] == b"ORTM", is_ort, name)
                again = ort.InferenceSession(contents)
                np.testing.assert_array_equal(again.run(None, {"x": np.float32([[1, 2, 3]])})[0], [[-1, -2, -3]])

    def test_profiling_writes_a_trace(self):
        import json

        with tempfile.TemporaryDirectory() as folder:
            options = ort.SessionOptions()
            options.enable_profiling = True
            options.profile_file_prefix = os.path.join(folder, "trace")
            session = ort.InferenceSession(models.affine(), options)
            session.run(None, {"a": np.zeros((2, 3), np.float32), "b": np.zeros((2, 3), np.float32)})
            path = session.end_profiling()
            self.assertTrue(path.startswith(options.profile_file_prefix))
            with open(path) as file:
                events = json.load(file)
            self.assertEqual({e["args"]["op_name"] for e in events if e["cat"] == "Node"}, {"Add", "Mul"})


class Errors(unittest.TestCase):
    def test_names_and_shapes_that_do_not_fit(self):
        session = ort.InferenceSession(models.affine())
        a = np.zeros((2, 3), np.float32)
        with self.assertRaisesRegex(ValueError, r"Required inputs \(\['b'\]\) are missing"):
            session.run(None, {"a": a})
        with self.assertRaisesRegex(ort.InvalidArgument, "Invalid input name: c"):
            session.run(None, {"a": a, "b": a, "c": a})
        with self.assertRaisesRegex(ort.InvalidArgument, "Invalid output name: z"):
            session.run(["z"], {"a": a, "b": a})
        with self.assertRaisesRegex(ort.InvalidArgument, "float.*double"):
            session.run(None, {"a": a, "b": a.astype(np.float64)})
        with self.assertRaises(ort.InvalidArgument):
            session.run(None, {"a": a, "b": np.zeros((3, 3), np.float32)})
        with self.assertRaises(ort.InvalidArgument):
            session.run(None, {"a": a, "b": None})
        with self.assertRaises(TypeError):
            session.run(None, [a, a])
        self.assertEqual(len(session.run(None, {"a": a, "b": a})), 2)

    def test_files_that_are_none(self):
        from sardonyx.capi.onnxruntime_pybind11_state import NoSuchFile

        with self.assertRaisesRegex(NoSuchFile, "File doesn't exist"):
            ort.InferenceSession("/no/such/file.onnx")
        with self.assertRaises(RuntimeError):
            ort.InferenceSession(b"not a model")
        with self.assertRaises(TypeError):
            ort.InferenceSession(3)

    def test_bad_options(self):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 100000
        with self.assertRaisesRegex(ort.InvalidArgument, "intra_op_num_threads"):
            ort.InferenceSession(models.unary("Neg"), options)
        options = ort.SessionOptions()
        options.precision = "float8"
        with self.assertRaisesRegex(ort.InvalidArgument, "precision"):
            ort.InferenceSession(models.unary("Neg"), options)
        with self.assertRaisesRegex(ort.InvalidArgument, "Config key is empty"):
            options.add_session_config_entry("", "1")

    def test_terminate_and_deadline_end_a_run(self):
        session = ort.InferenceSession(models.endless())
        options = ort.RunOptions()
        timer = threading.Timer(0.2, lambda: setattr(options, "terminate", True))
        timer.start()
        began = time.monotonic()
        with self.assertRaises(ort.Fail):
            session.run(None, {"x": np.zeros(2, np.float32)}, options)
        self.assertLess(time.monotonic() - began, 20)
        options.terminate = False
        options.deadline = 0.05
        with self.assertRaises(ort.Fail):
            session.run(None, {"x": np.zeros(2, np.float32)}, options)


class Values(unittest.TestCase):
    def test_every_numpy_type(self):
        for name in (
            "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128".split()
        ):
            array = np.arange(6).reshape(2, 3).astype(name)
            number = numpy_helper.from_array(array).data_type
            session = ort.InferenceSession(models.unary("Identity", number, (2, 3)))
            (result,) = session.run(None, {"x": array})
            self.assertEqual(result.dtype, array.dtype)
            np.testing.assert_array_equal(result, array)

    def test_types_that_numpy_lacks_come_as_ort_values(self):
        for number in (TensorProto.BFLOAT16,) + tuple(getattr(TensorProto, n) for n in ("INT4", "UINT4") if hasattr(TensorProto, n)):
            cast = helper.make_node("Cast", ["x"], ["y"], to=number)
            back = helper.make_node("Cast", ["y"], ["z"], to=TensorProto.FLOAT)
            x = ("x", TensorProto.FLOAT, [2])
            narrow = ort.InferenceSession(models.model_of([cast], [x], [("y", number, [2])]))
            wide = ort.InferenceSession(models.model_of([back], [("y", number, [2])], [("z", x[1], [2])]))
            (y,) = narrow.run(None, {"x": np.float32([1, -2])})
            if isinstance(y, np.ndarray):
                continue  # ml_dtypes is installed
            self.assertEqual(y.element_type(), number)
            np.testing.assert_array_equal(wide.run(None, {"y": y})[0], [1, -2])

    def test_strings(self):
        session = ort.InferenceSession(models.unary("Identity", TensorProto.STRING, ("n",)))
        for array in (np.array(["a", "", "große"]), np.array(["a", "", "große"], object)):
            (result,) = session.run(None, {"x": array})
            self.assertEqual(result.dtype, object)
            self.assertEqual(result.tolist(), ["a", "", "große"])
        self.assertEqual(session.run(None, {"x": np.array([b"x"])})[0].tolist(), ["x"])
        with self.assertRaises(ort.InvalidArgument):
            session.run(None, {"x": np.array(["a", 3], object)})

    def test_arrays_of_any_layout(self):
        session = ort.InferenceSession(models.unary("Neg", TensorProto.FLOAT, ("n", "m")))
        whole = np.arange(24, dtype=np.float32).reshape(4, 6)
        for array in (whole.T, whole[::2, ::3], whole[::-1], np.asfortranarray(whole), whole.astype(">f4"), whole[:0]):
            (result,) = session.run(None, {"x": array})
            np.testing.assert_array_equal(result, -array)
        np.testing.assert_array_equal(session.run(None, {"x": [[np.float32(1)]]})[0], [[-1]])
        locked = whole.copy()
        locked.flags.writeable = False
        np.testing.assert_array_equal(session.run(None, {"x": locked})[0], -whole)

    def test_results_outlive_session_and_inputs_and_stand_alone(self):
        # Flatten's result is its input's memory; the second output is a weight.
        weight = helper.make_tensor("w", TensorProto.FLOAT, [2], [1, 2])
        model = models.model_of(
            [helper.make_node("Flatten", ["x"], ["y"]), helper.make_node("Identity", ["w"], ["v"])],
            [("x", TensorProto.FLOAT, [2, 3])],
            [("y", TensorProto.FLOAT, [2, 3]), ("v", TensorProto.FLOAT, [2])],
            initializers=[weight],
        )
        session = ort.InferenceSession(model)
        x = np.ones((2, 3), np.float32)
        y, v = session.run(None, {"x": x})
        x[:] = 5
        v[:] = 9
        np.testing.assert_array_equal(y, np.ones((2, 3)))
        np.testing.assert_array_equal(session.run(None, {"x": x})[1], [1, 2])
        del session, x
        gc.collect()
        np.testing.assert_array_equal(y, np.ones((2, 3)))
        self.assertTrue(y.flags.writeable)

    def test_sequences_and_maps(self):
        sequence = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
        session = ort.InferenceSession(
            models.model_of(
                [helper.make_node("ConcatFromSequence", ["s"], ["y"], axis=0),
                 helper.make_node("SequenceErase", ["s"], ["t"])],
                [sequence],
                [("y", TensorProto.FLOAT, ["n"]), helper.make_tensor_sequence_value_info("t", TensorProto.FLOAT, None)],
            )
        )
        self.assertEqual(session.get_inputs()[0].type, "seq(tensor(float))")
        y, rest = session.run(None, {"s": [np.float32([1]), np.float32([2, 3])]})
        np.testing.assert_array_equal(y, [1, 2, 3])
        self.assertEqual([r.tolist() for r in rest], [[1]])
        with self.assertRaises(ort.InvalidArgument):
            session.run(None, {"s": np.float32([1])})

    def test_memory_does_not_grow(self):
        session = ort.InferenceSession(models.unary("Neg"))
        x = np.ones((100, 3), np.float32)
        before = sys.getrefcount(x)
        for _ in range(1000):
            session.run(None, {"x": x})
        self.assertEqual(sys.getrefcount(x), before)


class Threads(unittest.TestCase):
    def test_one_session_serves_many(self):
        session = ort.InferenceSession(models.affine())
        wrong = []

        def work(seed):
            random = np.random.default_rng(seed)
            for _ in range(200):
                a, b = random.random((2, 2, int(random.integers(1, 9))), np.float32)
                total, product = session.run(None, {"a": a, "b": b})
                if not (np.array_equal(total, a + b) and np.array_equal(product, a * b)):
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_run_async_calls_back(self):
        session = ort.InferenceSession(models.unary("Neg"))
        done, seen = threading.Event(), []

        def callback(results, user_data, error):
            seen.append((results, user_data, error))
            done.set()

        session.run_async(None, {"x": np.float32([[1, 2, 3]])}, callback, "mine")
        self.assertTrue(done.wait(60))
        results, data, error = seen[0]
        self.assertEqual((data, error), ("mine", ""))
        np.testing.assert_array_equal(results[0], [[-1, -2, -3]])


if __name__ == "__main__":
    unittest.main()
