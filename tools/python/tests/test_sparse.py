"""SparseTensor: its formats, as values of OrtValues, and through models."""
import gc
import unittest

import numpy as np
from onnx import TensorProto, helper

import sardonyx as ort

import models


def coo(values, indices, shape=(3, 3)):
    return ort.SparseTensor.sparse_coo_from_numpy(list(shape), values, np.int64(indices), ort.OrtDevice.make("cpu", 0))


class Formats(unittest.TestCase):
    def test_coordinates(self):
        values, indices = np.float32([1, 2, 3]), np.int64([0, 4, 8])
        sparse = coo(values, indices)
        self.assertEqual(sparse.format(), ort.OrtSparseFormat.ORT_SPARSE_COO)
        self.assertEqual((sparse.dense_shape(), sparse.device_name()), ([3, 3], "cpu"))
        self.assertEqual(sparse.data_type(), "sparse_tensor(float)")
        view = sparse.as_coo_view()
        got_values, got_indices = sparse.values(), view.indices()
        del sparse, view
        gc.collect()
        np.testing.assert_array_equal(got_values, values)
        np.testing.assert_array_equal(got_indices, indices)
        for array in (got_values, got_indices):
            self.assertFalse(array.flags.writeable)
        pairs = coo(values, [[0, 0], [1, 1], [2, 2]])
        self.assertEqual(pairs.as_coo_view().indices().shape, (3, 2))

    def test_rows(self):
        values, inner, outer = np.float64([1, 2, 3]), np.int64([1, 0, 2]), np.int64([0, 1, 3, 3])
        sparse = ort.SparseTensor.sparse_csr_from_numpy([3, 3], values, inner, outer, ort.OrtDevice.make("cpu", 0))
        self.assertEqual(sparse.format(), ort.OrtSparseFormat.ORT_SPARSE_CSRC)
        np.testing.assert_array_equal(sparse.as_csrc_view().inner(), inner)
        np.testing.assert_array_equal(sparse.as_csrc_view().outer(), outer)
        with self.assertRaises(RuntimeError):
            sparse.as_coo_view()

    def test_strings(self):
        words = np.array(["x", "yy", "zzz"])
        sparse = coo(words, [0, 1, 2])
        self.assertEqual(sparse.data_type(), "sparse_tensor(string)")
        self.assertEqual(sparse.values().tolist(), words.tolist())

    def test_as_values(self):
        value = ort.OrtValue.ort_value_from_sparse_tensor(coo(np.float32([5]), [7]))
        self.assertTrue(value.is_sparse_tensor())
        self.assertFalse(value.is_tensor())
        again = value.as_sparse_tensor()
        self.assertEqual((again.values().tolist(), again.as_coo_view().indices().tolist()), ([5], [7]))
        with self.assertRaises(RuntimeError):
            ort.OrtValue.ortvalue_from_numpy(np.float32([1])).as_sparse_tensor()

    def test_what_does_not_fit_is_refused(self):
        one = np.float32([1])
        for call in (
            lambda: coo(one, [9]),
            lambda: coo(one, [-1]),
            lambda: coo(one, [0, 1, 2]),
            lambda: coo(one, [[0, 3]]),
            lambda: coo(np.float32([[1]]), [0]),
            lambda: coo(one, [0], (-1, 3)),
            lambda: ort.SparseTensor.sparse_csr_from_numpy([3, 3], one, np.int64([0]), np.int64([0, 1])),
            lambda: coo(one, [0]).to_cuda(ort.OrtDevice.make("cuda", 0)),
        ):
            with self.assertRaises(RuntimeError):
                call()
        with self.assertRaisesRegex(ort.InvalidArgument, "coo_indices: expected elements of int64"):
            ort.SparseTensor.sparse_coo_from_numpy([3, 3], one, np.float32([0]))


class Models(unittest.TestCase):
    def test_results_that_are_sparse(self):
        constant = helper.make_sparse_tensor(
            helper.make_tensor("", TensorProto.FLOAT, [2], [3, 5]), helper.make_tensor("", TensorProto.INT64, [2], [1, 7]), [3, 3]
        )
        node = helper.make_node("Constant", [], ["y"], sparse_value=constant)
        dense = models.model_of([node], [], [("y", TensorProto.FLOAT, [3, 3])])
        (y,) = ort.InferenceSession(dense).run(None, {})
        np.testing.assert_array_equal(np.asarray(y).reshape(-1), [0, 3, 0, 0, 0, 0, 0, 5, 0])


if __name__ == "__main__":
    unittest.main()
