"""OrtValue, IOBinding and DLPack."""
import unittest

import numpy as np
from onnx import TensorProto

import sardonyx as ort

import models


class OrtValues(unittest.TestCase):
    def test_over_an_array(self):
        array = np.float32([[1, 2], [3, 4]])
        value = ort.OrtValue.ortvalue_from_numpy(array)
        self.assertEqual(value.shape(), [2, 2])
        self.assertEqual(value.data_type(), "tensor(float)")
        self.assertEqual(value.element_type(), TensorProto.FLOAT)
        self.assertEqual(value.device_name(), "cpu")
        self.assertEqual(value.data_ptr(), array.ctypes.data)
        self.assertTrue(value.is_tensor() and value.has_value())
        copy = value.numpy()
        value.update_inplace(np.zeros((2, 2), np.float32))
        np.testing.assert_array_equal(array, np.zeros((2, 2)))
        np.testing.assert_array_equal(copy, [[1, 2], [3, 4]])
        with self.assertRaises(ort.InvalidArgument):
            value.update_inplace(np.zeros((2, 3), np.float32))

    def test_of_a_shape(self):
        value = ort.OrtValue.ortvalue_from_shape_and_type([2, 0, 3], np.int64)
        self.assertEqual(value.shape(), [2, 0, 3])
        self.assertEqual(value.numpy().dtype, np.int64)
        with self.assertRaises(ort.InvalidArgument):
            ort.OrtValue.ortvalue_from_shape_and_type([-1], np.float32)
        with self.assertRaises(RuntimeError):
            ort.OrtValue.ortvalue_from_shape_and_type([2**40, 2**40], np.float32)

    def test_run_with_values(self):
        session = ort.InferenceSession(models.affine())
        one = ort.OrtValue.ortvalue_from_numpy(np.ones((2, 3), np.float32))
        total, product = session.run_with_ort_values(None, {"a": one, "b": one})
        np.testing.assert_array_equal(total.numpy(), np.full((2, 3), 2))
        (again,) = session.run_with_ort_values(["sum"], {"a": total, "b": product})
        np.testing.assert_array_equal(again.numpy(), np.full((2, 3), 3))


class DlPack(unittest.TestCase):
    def test_numpy_reads_and_gives(self):
        value = ort.OrtValue.ortvalue_from_numpy(np.arange(6, dtype=np.int32).reshape(2, 3))
        array = np.from_dlpack(value)
        np.testing.assert_array_equal(array, np.arange(6).reshape(2, 3))
        self.assertEqual(array.ctypes.data, value.data_ptr())
        source = np.arange(4, dtype=np.float64)
        taken = ort.OrtValue.from_dlpack(source)
        self.assertEqual(taken.data_ptr(), source.ctypes.data)
        del source
        np.testing.assert_array_equal(taken.numpy(), np.arange(4))

    def test_bytes_as_bools(self):
        value = ort.OrtValue.from_dlpack(np.uint8([1, 0]), is_bool_tensor=True)
        self.assertEqual(value.numpy().tolist(), [True, False])
        with self.assertRaisesRegex(ort.InvalidArgument, "expected uint8 or bool, got float"):
            ort.OrtValue.from_dlpack(np.float32([1]), is_bool_tensor=True)

    def test_capsules_are_used_once(self):
        capsule = ort.OrtValue.ortvalue_from_numpy(np.ones(3, np.float32)).to_dlpack()
        ort.OrtValue.from_dlpack(capsule)
        with self.assertRaises(ort.InvalidArgument):
            ort.OrtValue.from_dlpack(capsule)
        with self.assertRaises(ort.InvalidArgument):
            ort.OrtValue.from_dlpack(np.arange(6).reshape(2, 3).T)
        with self.assertRaises(RuntimeError):
            ort.OrtValue.ortvalue_from_numpy(np.array(["a"], object)).to_dlpack()


class Bindings(unittest.TestCase):
    def setUp(self):
        self.session = ort.InferenceSession(models.affine())
        self.a = np.float32([[1, 2, 3], [4, 5, 6]])

    def test_outputs_into_bound_memory(self):
        binding = self.session.io_binding()
        total = np.zeros((2, 3), np.float32)
        value = ort.OrtValue.ortvalue_from_numpy(total)
        binding.bind_cpu_input("a", self.a)
        binding.bind_ortvalue_input("b", ort.OrtValue.ortvalue_from_numpy(self.a))
        binding.bind_ortvalue_output("sum", value)
        binding.bind_output("product")
        for turn in range(3):
            self.a[:] = turn
            self.session.run_with_iobinding(binding)
            np.testing.assert_array_equal(total, np.full((2, 3), 2 * turn))
            np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[1], np.full((2, 3), turn * turn))
        self.assertEqual(binding.get_outputs()[0].data_ptr(), total.ctypes.data)
        self.assertEqual(binding.get_output_names(), ["sum", "product"])

    def test_memory_by_address(self):
        binding = self.session.io_binding()
        for name in ("a", "b"):
            binding.bind_input(name, "cpu", 0, np.float32, self.a.shape, self.a.ctypes.data)
        result = np.zeros((2, 3), np.float32)
        binding.bind_output("product", "cpu", 0, np.float32, result.shape, result.ctypes.data)
        self.session.run_with_iobinding(binding)
        np.testing.assert_array_equal(result, self.a * self.a)

    def test_results_stay_when_the_binding_runs_again(self):
        binding = self.session.io_binding()
        binding.bind_cpu_input("a", self.a)
        binding.bind_cpu_input("b", self.a)
        binding.bind_output("sum")
        self.session.run_with_iobinding(binding)
        (first,) = binding.copy_outputs_to_cpu()
        (value,) = binding.get_outputs()
        kept = first.copy()
        self.a[:] = 7
        self.session.run_with_iobinding(binding)
        np.testing.assert_array_equal(first, kept)
        np.testing.assert_array_equal(value.numpy(), kept)

    def test_memory_that_does_not_fit_is_refused(self):
        for wrong in (np.zeros((2, 4), np.float32), np.zeros((2, 3), np.float64), np.zeros(6, np.float32)):
            by_address = self.session.io_binding()
            dtype, address = wrong.dtype.type, wrong.ctypes.data
            by_address.bind_output("sum", "cpu", 0, dtype, wrong.shape, address)
            by_value = self.session.io_binding()
            by_value.bind_ortvalue_output("sum", ort.OrtValue.ortvalue_from_numpy(wrong))
            for binding in (by_address, by_value):
                binding.bind_cpu_input("a", self.a)
                binding.bind_cpu_input("b", self.a)
                with self.assertRaisesRegex(ort.InvalidArgument, "output sum: the model gives .* but memory for"):
                    self.session.run_with_iobinding(binding)
            self.assertFalse(wrong.any())

    def test_a_binding_is_its_sessions(self):
        binding = ort.InferenceSession(models.affine()).io_binding()
        binding.bind_output("sum")
        with self.assertRaisesRegex(ort.InvalidArgument, "run_with_iobinding: the binding is that of another session"):
            self.session.run_with_iobinding(binding)

    def test_what_is_missing_or_wrong(self):
        binding = self.session.io_binding()
        with self.assertRaises(ort.InvalidArgument):
            self.session.run_with_iobinding(binding)
        with self.assertRaises(ort.InvalidArgument):
            binding.bind_cpu_input("c", self.a)
        with self.assertRaises(ort.InvalidArgument):
            binding.bind_output("c")
        binding.bind_output("sum")
        with self.assertRaises(ValueError):
            self.session.run_with_iobinding(binding)
        binding.clear_binding_outputs()
        binding.clear_binding_inputs()


if __name__ == "__main__":
    unittest.main()
