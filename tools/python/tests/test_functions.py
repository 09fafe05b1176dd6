"""Functions of torch.nn.functional that are made of others, against their definitions in NumPy."""
import unittest

import numpy as np

from sardonyx import eager
from sardonyx.eager import nn
from sardonyx.eager.nn import functional as F

NUMBERS = np.random.default_rng(3)


def array(*shape):
    return NUMBERS.standard_normal(shape).astype(np.float32)


class Functions(unittest.TestCase):
    def assert_same(self, found, expected):
        self.assertEqual(tuple(found.shape), np.shape(expected))
        np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-4, atol=1e-5)

    def test_instance_norm(self):
        for shape in ((2, 3, 7), (4, 3, 5, 6), (2, 3, 4, 3, 2)):
            axes, ones = tuple(range(2, len(shape))), (1, 3) + (1,) * (len(shape) - 2)
            x, w, b = array(*shape) * 2 + 1, array(3), array(3)
            mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
            normed = (x - mean) / np.sqrt(var + 1e-3)
            self.assert_same(F.instance_norm(eager.tensor(x), eps=1e-3), normed)
            scaled = F.instance_norm(eager.tensor(x), weight=eager.tensor(w), bias=eager.tensor(b), eps=1e-3)
            self.assert_same(scaled, normed * w.reshape(ones) + b.reshape(ones))

    def test_instance_norm_moves_statistics_and_goes_by_them(self):
        x, mean, var = array(4, 3, 5), array(3), array(3) ** 2
        given = eager.tensor(mean), eager.tensor(var)
        alone = F.instance_norm(eager.tensor(x))
        self.assert_same(F.instance_norm(eager.tensor(x), *given, momentum=0.25), alone.numpy())
        mean = 0.75 * mean + 0.25 * x.mean(2).mean(0)
        var = 0.75 * var + 0.25 * x.var(2, ddof=1).mean(0)
        self.assert_same(given[0], mean)
        self.assert_same(given[1], var)
        by_them = F.instance_norm(eager.tensor(x), *given, use_input_stats=False)
        self.assert_same(by_them, (x - mean[:, None]) / np.sqrt(var[:, None] + 1e-5))
        self.assert_same(given[0], mean)

    def test_instance_norm_refuses(self):
        with self.assertRaisesRegex(ValueError, r"expected \[batch, channels, ...\], got shape \[2, 3\]"):
            F.instance_norm(eager.ones(2, 3))
        with self.assertRaisesRegex(ValueError, "use_input_stats=False needs running_mean"):
            F.instance_norm(eager.ones(2, 3, 4), use_input_stats=False)

    def test_lp_pool(self):
        a = np.abs(array(2, 3, 8, 6)) + 0.1
        for p in (1, 2, 3.0):
            windows = a.reshape(2, 3, 4, 2, 2, 3)
            expected = (windows**p).sum((3, 5)) ** (1 / p)
            self.assert_same(F.lp_pool2d(eager.tensor(a), p, (2, 3)), expected)
            self.assert_same(nn.LPPool2d(p, (2, 3))(eager.tensor(a)), expected)
            line = a[:, :, 0]
            expected = (np.stack([line[..., 0:3], line[..., 2:5]], 2) ** p).sum(3) ** (1 / p)
            self.assert_same(F.lp_pool1d(eager.tensor(line), p, 3, 2), expected)
            self.assert_same(nn.LPPool1d(p, 3, stride=2)(eager.tensor(line)), expected)

        self.assertEqual(repr(nn.LPPool2d(2, 3)), "LPPool2d(norm_type=2, kernel_size=3, stride=None, ceil_mode=False)")

    def test_gradients(self):
        a = np.abs(array(1, 2, 6)) + 0.5
        x = eager.tensor(a).requires_grad_()
        F.lp_pool1d(x, 2, 3).sum().backward()
        norms = np.sqrt((a.reshape(1, 2, 2, 3) ** 2).sum(3, keepdims=True))
        self.assert_same(x.grad, (a.reshape(1, 2, 2, 3) / norms).reshape(a.shape))
        x = eager.tensor(a).requires_grad_()
        F.instance_norm(x).sum().backward()
        self.assert_same(x.grad, np.zeros_like(a))


if __name__ == "__main__":
    unittest.main()
