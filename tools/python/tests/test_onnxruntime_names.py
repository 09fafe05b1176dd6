"""What programs that were written for onnxruntime reach for: names below the public ones, options, adapters, logs."""
import contextlib
import importlib
import os
import pathlib
import tempfile
import unittest
import warnings

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import sardonyx as ort
from sardonyx.capi import _pybind_state as state

import models

X = np.float32([[1, 2], [3, 4]])


def product(**fields):
    """y = x * w of float[2, 2], where w is [[1, 2], [3, 4]] in the model."""
    return models.model_of(
        [helper.make_node("Mul", ["x", "w"], ["y"], name="product")],
        [("x", TensorProto.FLOAT, [2, 2])],
        [("y", TensorProto.FLOAT, [2, 2])],
        initializers=[numpy_helper.from_array(X, "w")],
        **fields,
    )


@contextlib.contextmanager
def environment(name, value):
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name)
        if before is not None:
            os.environ[name] = before


class OwnNames(unittest.TestCase):
    def test_every_module_that_has_them(self):
        self.assertIs(importlib.import_module("sardonyx.capi.onnxruntime_pybind11_state").Fail, ort.Fail)
        collection = importlib.import_module("sardonyx.capi.onnxruntime_inference_collection")
        self.assertIs(collection.InferenceSession, ort.InferenceSession)
        self.assertIsInstance(state.get_default_session_options(), ort.SessionOptions)
        self.assertIn("Build Info", ort.get_build_info())

    def test_below_sessions(self):
        session = ort.InferenceSession(product())
        value = ort.OrtValue.ortvalue_from_numpy(X)
        results = session._sess.run_with_ort_values({"x": value._get_c_value()}, ["y"], ort.RunOptions())
        self.assertIsInstance(results, ort.OrtValueVector)
        np.testing.assert_array_equal(results[0].numpy(), X * X)
        self.assertEqual([one.name for one in session._sess.inputs_meta], ["x"])
        self.assertEqual(session._sess.model_meta.graph_name, "graph")

    def test_below_bindings(self):
        session = ort.InferenceSession(product())
        device = state.OrtDevice(state.OrtDevice.cpu(), state.OrtDevice.default_memory(), 0)
        place, numbered = np.zeros((2, 2), np.float32), np.zeros((2, 2), np.float32)
        for output in (
            (device,),
            (device, np.float32, [2, 2], place.ctypes.data),
            (device, TensorProto.FLOAT, [2, 2], numbered.ctypes.data),
        ):
            binding = state.SessionIOBinding(session._sess)
            binding.bind_ortvalue_input("x", state.OrtValue.ortvalue_from_numpy(X, device))
            binding.bind_output("y", *output)
            session._sess.run_with_iobinding(binding, None)
            np.testing.assert_array_equal(binding.get_outputs()[0].numpy(), X * X)
        np.testing.assert_array_equal(place, X * X)
        np.testing.assert_array_equal(numbered, X * X)
        binding = session.io_binding()
        with self.assertRaises(ValueError):
            binding.bind_output("y", "cpu", 0, None, [2, 2], place.ctypes.data)
        with self.assertRaises(ort.NotImplemented):
            binding.bind_output("y", "cuda")
        self.assertIsInstance(binding._iobinding, state.SessionIOBinding)

    def test_places_and_devices_of_a_session(self):
        session = ort.InferenceSession(product())
        (taken,), (given,) = session.get_input_memory_infos(), session.get_output_memory_infos()
        self.assertEqual((taken.name, given.name), ("Cpu", "Cpu"))
        self.assertEqual(session.get_input_epdevices()[0].ep_name, "CPUExecutionProvider")
        self.assertEqual(session.get_tuning_results(), [])
        session.set_tuning_results([{"ep": "Own"}])
        with self.assertRaisesRegex(RuntimeError, "Cannot find execution provider Own"):
            session.set_tuning_results([{"ep": "Own"}], error_on_invalid=True)

    def test_which_provider_runs_which_node(self):
        options = ort.SessionOptions()
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        (part,) = ort.InferenceSession(product(), options).get_provider_graph_assignment_info()
        (node,) = part.get_nodes()
        self.assertEqual((part.ep_name, node.domain, node.op_type, node.name), ("CPUExecutionProvider", "", "Mul", "product"))
        with self.assertRaisesRegex(ort.Fail, "'session.record_ep_graph_assignment_info' must be set to \"1\""):
            ort.InferenceSession(product()).get_provider_graph_assignment_info()


    def test_nodes_of_a_chain(self):
        options = ort.SessionOptions()
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        chain = models.model_of(
            [
                helper.make_node("Add", ["x", "x"], ["a"], name="first"),
                helper.make_node("Mul", ["a", "x"], ["b"], name="second"),
                helper.make_node("Add", ["b", "x"], ["y"], name="third"),
            ],
            [("x", TensorProto.FLOAT, [2, 2])],
            [("y", TensorProto.FLOAT, [2, 2])],
        )
        parts = ort.InferenceSession(chain, options).get_provider_graph_assignment_info()
        self.assertCountEqual([node.name for part in parts for node in part.get_nodes()], ["first", "second", "third"])

    def test_plain_numbers_have_the_type_of_the_input(self):
        (y,) = ort.InferenceSession(product()).run(None, {"x": X.tolist()})
        np.testing.assert_array_equal(y, X * X)

    def test_names_of_dims_are_those_of_the_file(self):
        model = models.model_of(
            [helper.make_node("Relu", ["x"], ["y"])],
            [("x", TensorProto.FLOAT, ["None", 2])],
            [("y", TensorProto.FLOAT, ["None", 2])],
        )
        session = ort.InferenceSession(model)
        self.assertEqual((session.get_inputs()[0].shape, session.get_outputs()[0].shape), (["None", 2], ["None", 2]))

    def test_models_that_are_refused_have_onnxruntimes_classes(self):
        model = onnx.load_from_string(product())
        model.graph.node[0].op_type = "NoSuchOp"
        with self.assertRaisesRegex(ort.InvalidGraph, "No Op registered for NoSuchOp"):
            ort.InferenceSession(model.SerializeToString())
        model.graph.node[0].domain = "own"
        model.opset_import.append(helper.make_opsetid("own", 1))
        with self.assertRaisesRegex(ort.Fail, "own:NoSuchOp.* is not a registered function/op"):
            ort.InferenceSession(model.SerializeToString())
        with self.assertRaises(ort.InvalidProtobuf):
            ort.InferenceSession(b"this is no model")


class Compatibility(unittest.TestCase):
    def test_what_providers_wrote_into_a_model(self):
        model = onnx.load_from_string(product())
        model.metadata_props.add(key="ep_compatibility_info.Own", value="for driver 3")
        content = model.SerializeToString()
        self.assertEqual(state.get_compatibility_info_from_model_bytes(content, "Own"), "for driver 3")
        self.assertIsNone(state.get_compatibility_info_from_model_bytes(content, "Other"))
        for wrong in ((b"this is no model", "Own"), (b"", "Own"), (content, "")):
            with self.assertRaises(RuntimeError):
                state.get_compatibility_info_from_model_bytes(*wrong)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            path.write_bytes(content)
            self.assertEqual(state.get_compatibility_info_from_model(path, "Own"), "for driver 3")
            with self.assertRaises(ort.NoSuchFile):
                state.get_compatibility_info_from_model(str(path) + ".none", "Own")

    def test_the_cpu_and_its_provider(self):
        (device,) = state.get_hardware_devices()
        self.assertEqual(device.type, ort.OrtHardwareDeviceType.CPU)
        details = state.get_hardware_device_ep_incompatibility_details("CPUExecutionProvider", device)
        self.assertEqual((details["reasons_bitmask"], details["error_code"]), (0, 0))
        with self.assertRaises(RuntimeError):
            state.get_hardware_device_ep_incompatibility_details("", device)
        self.assertEqual(
            state.get_model_compatibility_for_ep_devices(ort.get_ep_devices(), "any"),
            state.OrtCompiledModelCompatibility.EP_NOT_APPLICABLE,
        )
        with self.assertRaises(RuntimeError):
            state.get_model_compatibility_for_ep_devices([], "any")
        with self.assertRaises(TypeError):
            state.get_model_compatibility_for_ep_devices(ort.get_ep_devices(), None)


class ChosenProviders(unittest.TestCase):
    def test_devices_and_policies(self):
        options = ort.SessionOptions()
        self.assertFalse(options.has_providers())
        with self.assertRaises(ort.InvalidArgument):
            options.add_provider("NoSuchExecutionProvider", {})
        options.add_provider_for_devices(ort.get_ep_devices(), {})
        self.assertTrue(options.has_providers())
        by_policy = ort.SessionOptions()
        by_policy.set_provider_selection_policy(ort.OrtExecutionProviderDevicePolicy.PREFER_GPU)
        self.assertTrue(by_policy.has_providers())
        ort.InferenceSession(product(), by_policy)

    def test_a_function_that_selects(self):
        told = []

        def select(devices, model, runtime, most):
            told.append((devices, model, most))
            return devices[:1]

        options = ort.SessionOptions()
        options.set_provider_selection_policy_delegate(select)
        ort.InferenceSession(product(), options)
        ((devices, model, most),) = told
        self.assertEqual(devices[0].ep_name, "CPUExecutionProvider")
        self.assertTrue(model and most > 0)

        def fail(*_):
            raise ValueError("none will do")

        options.set_provider_selection_policy_delegate(fail)
        with self.assertRaisesRegex(ort.Fail, "none will do"):
            ort.InferenceSession(product(), options)


class Providers(unittest.TestCase):
    def normalized(self, providers, options=None):
        collection = importlib.import_module("sardonyx.capi.onnxruntime_inference_collection")
        return collection.check_and_normalize_provider_args(providers, options, ["A", "B"])

    def test_arguments(self):
        self.assertEqual(self.normalized(None), ([], []))
        self.assertEqual(self.normalized([("A", {1: 2}), "B"]), (["A", "B"], [{"1": "2"}, {}]))
        self.assertEqual(self.normalized(["A", "B"], [{}, {"x": 1}]), (["A", "B"], [{}, {"x": "1"}]))
        with self.assertWarnsRegex(UserWarning, "Duplicate provider 'A'"):
            self.assertEqual(self.normalized(["A", "A"], [{"x": 1}, {}]), (["A"], [{"x": "1"}]))
        for refused in ((3,), ([3],), (["A"], 3), (["A"], ["x"]), (["A", "B"], [{}]), ([("A", {})], [{}])):
            with self.assertRaises(ValueError):
                self.normalized(*refused)

    def test_names(self):
        self.assertEqual(ort.get_all_providers()[-1], "CPUExecutionProvider")
        self.assertEqual(ort.get_available_providers(), ["CPUExecutionProvider"])
        session = ort.InferenceSession(product())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            session.set_providers(["CUDAExecutionProvider"])
            with self.assertRaisesRegex(RuntimeError, "Unknown Provider Type: OwnProvider"):
                session.set_providers(["OwnProvider"])
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])


class Options(unittest.TestCase):
    def test_sizes_of_dimensions(self):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", "columns", 5])
        for axis, denotation in enumerate(("DATA_BATCH", "DATA_CHANNEL")):
            x.type.tensor_type.shape.dim[axis].denotation = denotation
        model = models.model_of([helper.make_node("Abs", ["x"], ["y"])], [x], [("y", TensorProto.FLOAT, None)])
        named, denoted, both = ort.SessionOptions(), ort.SessionOptions(), ort.SessionOptions()
        named.add_free_dimension_override_by_name("rows", 4)
        denoted.add_free_dimension_override_by_denotation("DATA_CHANNEL", 7)
        denoted.add_free_dimension_override_by_denotation("DATA_TIME", 9)
        both.add_free_dimension_override_by_name("rows", 4)
        both.add_free_dimension_override_by_denotation("DATA_CHANNEL", 7)
        for options, shape in ((named, [4, "columns", 5]), (denoted, ["rows", 7, 5]), (both, [4, 7, 5])):
            session = ort.InferenceSession(model, options)
            self.assertEqual(session.get_inputs()[0].shape, shape)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.onnx")
            path.write_bytes(model)
            self.assertEqual(ort.InferenceSession(path, both).get_outputs()[0].shape, [4, 7, 5])

    def test_files_in_memory(self):
        model = onnx.load_from_string(product())
        (weight,) = model.graph.initializer
        weight.ClearField("raw_data")
        weight.data_location = TensorProto.EXTERNAL
        weight.external_data.add(key="location", value="not_on_disk.bin")
        content = (2 * X).tobytes()
        options = ort.SessionOptions()
        options.add_external_initializers_from_files_in_memory(["not_on_disk.bin"], [content], [len(content)])
        (y,) = ort.InferenceSession(model.SerializeToString(), options).run(None, {"x": X})
        np.testing.assert_array_equal(y, 2 * X * X)
        for names, files, sizes in ((["a"], [], [0]), (["a"], [b"12"], [3])):
            with self.assertRaises(ort.InvalidArgument):
                options.add_external_initializers_from_files_in_memory(names, files, sizes)

    def test_optimized_models_with_files_of_weights(self):
        with tempfile.TemporaryDirectory() as folder:
            options = ort.SessionOptions()
            options.optimized_model_filepath = os.path.join(folder, "optimized.onnx")
            options.add_session_config_entry("session.optimized_model_external_initializers_file_name", "weights.bin")
            options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "8")
            ort.InferenceSession(product(), options)
            self.assertGreaterEqual(os.path.getsize(os.path.join(folder, "weights.bin")), X.nbytes)
            (y,) = ort.InferenceSession(options.optimized_model_filepath).run(None, {"x": X})
            np.testing.assert_array_equal(y, X * X)

    def test_libraries_of_operators(self):
        for name, said in (("there_is_no.so", "Failed to load library"), ("libm.so.6", "Failed to get symbol RegisterCustomOps")):
            with self.assertRaisesRegex(ort.Fail, said):
                ort.SessionOptions().register_custom_ops_library(name)

    def test_options_in_the_model(self):
        model = onnx.load_from_string(product())
        written = '{"session_options": {"inter_op_num_threads": 5, "intra_op_num_threads": 2, "graph_optimization_level": 1}}'
        model.metadata_props.add(key="ort_config", value=written)
        with environment("ORT_LOAD_CONFIG_FROM_MODEL", "1"):
            options = ort.InferenceSession(model.SerializeToString()).get_session_options()
            self.assertEqual((options.inter_op_num_threads, options.intra_op_num_threads), (5, 2))
            self.assertEqual(options.graph_optimization_level, ort.GraphOptimizationLevel.ORT_ENABLE_BASIC)
            model.metadata_props[0].value = "{"
            with self.assertRaisesRegex(ort.Fail, "ort_config in the model's metadata"):
                ort.InferenceSession(model.SerializeToString())
        self.assertEqual(ort.InferenceSession(model.SerializeToString()).get_session_options().intra_op_num_threads, 0)


class Adapters(unittest.TestCase):
    def test_files(self):
        parameters = {
            "a": ort.OrtValue.ortvalue_from_numpy(np.float32([[1, 2], [3, 4], [5, 6]])),
            "b": ort.OrtValue.ortvalue_from_numpy(np.int64([7])),
        }
        made = ort.AdapterFormat()
        made.set_adapter_version(3)
        made.set_model_version(4)
        made.set_parameters(parameters)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "adapter")
            made.export_adapter(path)
            read = ort.AdapterFormat.read_adapter(str(path))
        self.assertEqual((read.get_format_version(), read.get_adapter_version(), read.get_model_version()), (1, 3, 4))
        self.assertEqual(set(read.get_parameters()), set(parameters))
        for name, value in read.get_parameters().items():
            self.assertEqual(value.data_type(), parameters[name].data_type())
            np.testing.assert_array_equal(value.numpy(), parameters[name].numpy())
        with self.assertRaises(ort.InvalidArgument):
            ort.LoraAdapter().Load("there is no such file")

    def test_runs(self):
        session = ort.InferenceSession(models.with_default())
        x = np.float32([0, 0])
        adapter, options, made = ort.LoraAdapter(), ort.RunOptions(), ort.AdapterFormat()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "adapter")
            made.set_parameters({"w": ort.OrtValue.ortvalue_from_numpy(np.float32([5, 6]))})
            made.export_adapter(path)
            adapter.Load(path)
        options.add_active_adapter(adapter)
        self.assertEqual(session.run(None, {"x": x}, options)[0].tolist(), [5, 6])
        self.assertEqual(session.run(None, {"x": x})[0].tolist(), [1, 2])
        self.assertEqual(session.run(None, {"x": x, "w": np.float32([8, 8])}, options)[0].tolist(), [8, 8])
        binding = session.io_binding()
        binding.bind_cpu_input("x", x)
        binding.bind_output("y")
        session.run_with_iobinding(binding, options)
        self.assertEqual(binding.copy_outputs_to_cpu()[0].tolist(), [5, 6])


class Logs(unittest.TestCase):
    def setUp(self):
        self.addCleanup(ort.set_default_logger_severity, 2)
        self.addCleanup(ort.set_default_logger_callback, None)

    def test_a_function_is_told(self):
        told = []
        ort.set_default_logger_callback(lambda *record: told.append(record), severity=0)
        options = ort.SessionOptions()
        options.logid = "mine"
        session = ort.InferenceSession(product(), options)
        self.assertGreater(len(told), 0)
        for severity, category, logid, location, message in told:
            self.assertIn(severity, range(5))
            self.assertEqual([type(text) for text in (category, logid, location, message)], [str] * 4)
            self.assertEqual(logid, "mine")
        ort.set_default_logger_callback(None)
        ort.set_default_logger_severity(2)
        count = len(told)
        np.testing.assert_array_equal(session.run(None, {"x": X})[0], X * X)
        ort.InferenceSession(product())
        self.assertEqual(len(told), count)

    def test_what_is_refused(self):
        for callback, severity in ((print, 5), (print, -1), ("no function", 2)):
            with self.assertRaises(RuntimeError):
                ort.set_default_logger_callback(callback, severity=severity)

    def test_what_it_raises_ends_nothing(self):
        def raising(*record):
            raise ValueError("of the test")

        ort.set_default_logger_callback(raising, severity=0)
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
            session = ort.InferenceSession(product())
            np.testing.assert_array_equal(session.run(None, {"x": X})[0], X * X)


class Values(unittest.TestCase):
    def test_as_arrays(self):
        value = ort.OrtValue.ortvalue_from_numpy(X.copy())
        self.assertEqual(np.asarray(value).ctypes.data, value.data_ptr())
        self.assertEqual(np.asarray(value, dtype=np.float32).ctypes.data, value.data_ptr())
        self.assertNotEqual(np.array(value).ctypes.data, value.data_ptr())
        np.testing.assert_array_equal(np.asarray(value, dtype=np.float64), X)
        self.assertEqual(np.asarray(value, dtype=np.float64).dtype, np.float64)
        for array in (np.array([True, False]), np.int64([1, 2]), np.array(["a", "b"])):
            np.testing.assert_array_equal(np.asarray(ort.OrtValue.ortvalue_from_numpy(array)), array)
        array = np.asarray(value)
        del value
        np.testing.assert_array_equal(array, X)

    def test_exchange(self):
        value = ort.OrtValue.ortvalue_from_numpy(np.array([True, False]))
        self.assertEqual(ort.OrtValue.from_dlpack(value).data_type(), "tensor(bool)")
        self.assertFalse(state.is_dlpack_uint8_tensor(ort.OrtValue.ortvalue_from_numpy(X).to_dlpack()))
        self.assertTrue(state.is_dlpack_uint8_tensor(ort.OrtValue.ortvalue_from_numpy(np.uint8([1])).to_dlpack()))
        with self.assertRaises(ort.InvalidArgument):
            state.is_dlpack_uint8_tensor(X)
        again = ort.OrtValue(value)
        self.assertEqual(again.data_ptr(), value._ortvalue.data_ptr())

    def test_arrays_of_any_kind_of_text(self):
        session = ort.InferenceSession(models.unary("Identity", TensorProto.STRING, [2, 2]))
        wanted = [["must", "have"], ["same", "size"]]
        raw = [[b"must", b"have"], [b"same", b"size"]]
        for given in (np.array(wanted), np.array(wanted, object), np.array(raw), np.array(raw, np.void), wanted):
            self.assertEqual(session.run(None, {"x": given})[0].tolist(), wanted)

    def test_bytes_without_a_type_keep_their_zeros(self):
        session = ort.InferenceSession(models.unary("Identity", TensorProto.STRING, [2]))
        (y,) = session.run(None, {"x": np.array([b"A\0B\0", b"C\0D\0"], np.void)})
        self.assertEqual(y.tolist(), ["A\0B\0", "C\0D\0"])

    def test_keys_and_values_of_maps_are_of_their_types(self):
        x = onnx.ValueInfoProto(name="x")
        x.type.map_type.key_type = TensorProto.INT64
        x.type.map_type.value_type.tensor_type.elem_type = TensorProto.FLOAT
        node = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", int64_vocabulary=[1, 2, 3])
        session = ort.InferenceSession(models.model_of([node], [x], [("y", TensorProto.FLOAT, [1, 3])]))
        for one in (int, np.int64, np.int32):
            (y,) = session.run(None, {"x": {one(1): np.float64(5), one(3): 7.0}})
            self.assertEqual(y.tolist(), [[5, 0, 7]])
        for given, said in (({1: 5.0, "3": 7.0}, "key type  <class 'str'>, it cannot be linked to C type int64_t"),
                            ({1: "5"}, "value type  <class 'str'>, it cannot be linked to C type float")):
            with self.assertRaisesRegex(RuntimeError, "Unexpected " + said):
                session.run(None, {"x": given})

    def test_a_result_that_is_an_input_is_a_copy(self):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 2])
        model = models.model_of([helper.make_node("Neg", ["x"], ["y"])], [x], [("y", TensorProto.FLOAT, [2, 2]), x])
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        given = X.copy()
        negative, same = ort.InferenceSession(model, options).run(None, {"x": given})
        self.assertFalse(np.shares_memory(same, given))
        given[:] = 0
        np.testing.assert_array_equal(same, X)
        np.testing.assert_array_equal(negative, -X)


if __name__ == "__main__":
    unittest.main()
