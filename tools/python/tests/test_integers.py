"""Integers of Python beside tensors: exact in 64 bits, refused where the tensor's type can't hold them."""
import operator
import unittest

import numpy as np

import sardonyx
from sardonyx import eager
from sardonyx.eager import nn

WIDE = 2**53 + 1  # which no double is


class Integers(unittest.TestCase):
    def test_are_exact(self):
        x = eager.tensor([WIDE, 5])
        a = x.numpy()
        for name in ("eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mod", "floordiv", "and_", "or_", "xor"):
            of = getattr(operator, name)
            for number in (WIDE, WIDE + 2, 2**62 + 1):
                with self.subTest(name, number=number):
                    np.testing.assert_array_equal(of(x, number).numpy(), of(a, number))
                    np.testing.assert_array_equal(of(number, x).numpy(), of(number, a))
        self.assertEqual((eager.tensor([3]) * WIDE).tolist(), [3 * WIDE])
        self.assertEqual((eager.tensor([5]) < 2**63 - 1).tolist(), [True])
        self.assertEqual(eager.fmod(x, WIDE).tolist(), [0, 5])
        self.assertEqual(eager.maximum(x, WIDE).tolist(), [WIDE, WIDE])
        self.assertEqual(x.clamp(max=WIDE - 2, min=2).tolist(), [WIDE - 2, 5])
        self.assertEqual(x.clamp(min=WIDE).tolist(), [WIDE, WIDE])
        mask = eager.tensor([True, False])
        self.assertEqual(x.masked_fill(mask, WIDE + 2).tolist(), [WIDE + 2, 5])
        self.assertEqual(eager.where(mask, WIDE + 2, x).tolist(), [WIDE + 2, 5])
        self.assertEqual(eager.where(mask, WIDE, 1).tolist(), [WIDE, 1])
        self.assertEqual(eager.full((2,), WIDE, dtype="int64").tolist(), [WIDE, WIDE])
        self.assertEqual(eager.full_like(x, WIDE).tolist(), [WIDE, WIDE])
        self.assertEqual(eager.pad(x, [1, 0], value=WIDE + 2).tolist(), [WIDE + 2, WIDE, 5])
        self.assertEqual((mask + WIDE).tolist(), [WIDE + 1, WIDE])
        self.assertEqual(eager.tensor([3]).new_full((2,), WIDE).tolist(), [WIDE, WIDE])
        places = eager.tensor([1])
        y = eager.tensor([1, -2])
        for found, expected in (
            (y.index_fill(0, places, WIDE), [1, WIDE]),
            (y.scatter(0, places, WIDE), [1, WIDE]),
            (y.scatter(0, places, WIDE, reduce="add"), [1, WIDE - 2]),
            (y.clamp_min(WIDE), [WIDE, WIDE]),
            (y.clamp_max(-WIDE), [-WIDE, -WIDE]),
            (eager.hardtanh(y, WIDE, 2**62), [WIDE, WIDE]),
            (eager.threshold(y, 0, WIDE), [1, WIDE]),
            (y.add(1, alpha=WIDE), [WIDE + 1, WIDE - 2]),
            (y.addcmul(y, y, value=WIDE), [WIDE + 1, 4 * WIDE - 2]),
            (y.index_add(0, places, places, alpha=WIDE), [1, WIDE - 2]),
            (eager.addmm(y, y.reshape(2, 1), places.reshape(1, 1), beta=0, alpha=WIDE)[:, 0], [WIDE, -2 * WIDE]),
            (y.index_put((places,), WIDE), [1, WIDE]),
            (nn.ConstantPad1d((0, 1), WIDE)(y.reshape(1, 1, 2))[0, 0], [1, -2, WIDE]),
            (nn.Threshold(0, WIDE)(y), [1, WIDE]),
            (nn.init.constant_(eager.tensor([0]), WIDE), [WIDE]),
            (eager.full((1,), np.int64(WIDE), dtype="int64"), [WIDE]),
            (y.masked_fill(y > 0, eager.tensor(WIDE)), [WIDE, -2]),
        ):
            with self.subTest(expected=expected):
                self.assertEqual(found.tolist(), expected)
        top = eager.tensor(np.uint64([2**64 - 1]))
        self.assertEqual(((top == 2**64 - 1).tolist(), (top - (2**64 - 2)).tolist()), ([True], [1]))

    def test_that_do_not_fit_are_refused(self):
        for dtype, number in (
            ("int32", 2**31), ("int8", -129), ("uint8", -1), ("uint8", 256), ("uint64", -1), ("int64", 2**63),
            ("int64", 2**80), ("uint64", 2**64),
        ):
            x = eager.tensor([5]).to(dtype)
            calls = {
                "+": lambda: x + number,
                "<": lambda: number < x,
                "clamp": lambda: x.clamp(min=number),
                "masked_fill": lambda: x.masked_fill(eager.tensor([True]), number),
                "full": lambda: eager.full((2,), number, dtype=dtype),
                "full_like": lambda: eager.full_like(x, number),
                "index_fill": lambda: x.index_fill(0, eager.tensor([0]), number),
                "new_full": lambda: x.new_full((2,), number),
                "pad": lambda: eager.pad(x, [1, 1], value=number),
                "where": lambda: eager.where(eager.tensor([True]), x, number),
            }
            for name, call in calls.items():
                with self.subTest(name, dtype=dtype, number=number):
                    with self.assertRaisesRegex(sardonyx.InvalidArgument, f"to type {dtype} without overflow"):
                        call()

    def test_beside_other_types(self):
        self.assertEqual((eager.tensor([1.5]) * 2).tolist(), [3])
        self.assertEqual((eager.tensor([1.0]) + 2**70).tolist(), [2.0**70])
        self.assertEqual((eager.tensor([127], dtype="int8") - 127).tolist(), [0])
        self.assertEqual((eager.tensor([3]) ** 2).tolist(), [9])
        self.assertEqual((eager.tensor([True]) + 1).tolist(), [2])


if __name__ == "__main__":
    unittest.main()
