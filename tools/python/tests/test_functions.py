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

    def test_without_the_module(self):
        x, w = eager.tensor(array(2, 3, 8)), eager.tensor(array(4, 3, 3))
        self.assert_same(eager.conv1d(x, w, None, 2, 1), F.conv1d(x, w, stride=2, padding=1).numpy())
        self.assert_same(eager.max_pool1d(x, 2), x.numpy().reshape(2, 3, 4, 2).max(3))
        self.assert_same(eager.layer_norm(x, (8,)), F.layer_norm(x, (8,)).numpy())
        self.assert_same(eager.cosine_similarity(x[0], x[1], 1), F.cosine_similarity(x[0], x[1], dim=1).numpy())
        self.assertFalse(eager.is_complex(x))

    def test_matrix_factors(self):
        a = array(5, 3)
        u, s, v = eager.svd(eager.tensor(a))
        self.assert_same(u * s @ v.transpose(0, 1), a)
        q, r = eager.qr(eager.tensor(a))
        self.assert_same(q @ r, a)
        self.assert_same(eager.tril(r, -1), np.zeros((3, 3)))
        lower = eager.cholesky(eager.tensor(a.T @ a))
        self.assert_same(lower @ lower.transpose(0, 1), a.T @ a)

    def test_made_like_others(self):
        drawn = eager.randint_like(eager.zeros(50, 4, dtype=eager.float64), 3, 5)
        self.assertEqual((tuple(drawn.shape), drawn.dtype), ((50, 4), eager.float64))
        self.assertEqual(set(drawn.flatten().tolist()), {3, 4})
        self.assertEqual(set(eager.randint_like(eager.zeros(90), 2).tolist()), {0, 1})
        self.assertEqual(eager.scalar_tensor(2).dtype, eager.float32)
        self.assertEqual((tuple(eager.scalar_tensor(2, dtype=eager.int64).shape), eager.scalar_tensor(7).item()), ((), 7))


if __name__ == "__main__":
    unittest.main()
