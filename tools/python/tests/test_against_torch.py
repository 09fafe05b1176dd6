"""Functions under torch's names: values and gradients beside those of torch, where that is installed."""
import importlib.util
import unittest

import numpy as np

from sardonyx import InvalidArgument, eager
from sardonyx.eager import nn
from sardonyx.eager.nn import functional as F

HAS_TORCH = importlib.util.find_spec("torch") is not None
if HAS_TORCH:
    import torch
    from torch.nn import functional as TF

NUMBERS = np.random.default_rng(11)


def array(*shape):
    return NUMBERS.standard_normal(shape)


@unittest.skipUnless(HAS_TORCH, "torch is not installed")
class AgainstTorch(unittest.TestCase):
    def check(self, ours, theirs, *arrays, gradients=True, tolerance=1e-9):
        """Both functions of the same arrays: results, and gradients of a weighted sum of the first."""
        a = [eager.tensor(x) for x in arrays]
        b = [torch.tensor(x) for x in arrays]
        for x, y in zip(a, b):
            if gradients and y.is_floating_point():
                x.requires_grad_(), y.requires_grad_()
        found, expected = ours(*a), theirs(*b)
        found = found if isinstance(found, tuple) else (found,)
        expected = expected if isinstance(expected, (tuple, list)) else (expected,)
        self.assertEqual(len(found), len(expected))
        for x, y in zip(found, expected):
            y = torch.view_as_real(y.resolve_conj()) if y.is_complex() else y
            self.assertEqual(tuple(x.shape), tuple(y.shape))
            np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), rtol=tolerance, atol=tolerance)
        if not gradients:
            return
        y = torch.view_as_real(expected[0].resolve_conj()) if expected[0].is_complex() else expected[0]
        weights = np.cos(np.arange(y.numel()) * 0.7).reshape(y.shape)
        (found[0] * eager.tensor(weights)).sum().backward()
        (y * torch.tensor(weights)).sum().backward()
        for x, y in zip(a, b):
            if y.grad is not None:
                np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=tolerance, atol=tolerance)

    def test_max_unpooling(self):
        for rank, shape in ((1, (2, 3, 11)), (2, (2, 3, 8, 7)), (3, (1, 2, 6, 4, 5))):
            ours, theirs = getattr(F, f"max_pool{rank}d"), getattr(TF, f"max_pool{rank}d")
            back, torch_back = getattr(F, f"max_unpool{rank}d"), getattr(TF, f"max_unpool{rank}d")
            x = array(*shape)
            self.check(
                lambda t: ours(t, 3, 2, 1, return_indices=True),
                lambda t: theirs(t, 3, 2, 1, return_indices=True),
                x,
            )
            size = shape[2:]
            self.check(
                lambda t: back(*ours(t, 2, return_indices=True), 2, output_size=size),
                lambda t: torch_back(*theirs(t, 2, return_indices=True), 2, output_size=size),
                x,
            )
        pool, unpool = nn.MaxPool2d(2, stride=2, return_indices=True), nn.MaxUnpool2d(2, stride=2)
        torch_pool, torch_unpool = torch.nn.MaxPool2d(2, stride=2, return_indices=True), torch.nn.MaxUnpool2d(2, 2)
        x = array(2, 3, 6, 4)
        self.check(lambda t: unpool(*pool(t)), lambda t: torch_unpool(*torch_pool(t)), x)
        self.assertTrue(pool.return_indices)
        self.assertIsInstance(nn.MaxPool2d(2)(eager.tensor(x)), eager.Tensor)

    def test_bags(self):
        words = np.array([0, 2, 1, 1, 3, 0])
        for mode in ("sum", "mean", "max"):
            self.check(
                lambda i, w, o: F.embedding_bag(i, w, o, mode=mode),
                lambda i, w, o: TF.embedding_bag(i, w, o, mode=mode),
                words,
                array(4, 3),
                np.array([0, 2, 2]),
            )
        self.check(
            lambda i, w, p: F.embedding_bag(i, w, mode="sum", per_sample_weights=p),
            lambda i, w, p: TF.embedding_bag(i, w, mode="sum", per_sample_weights=p),
            words.reshape(2, 3),
            array(4, 3),
            array(2, 3),
        )
        with self.assertRaisesRegex(TypeError, "max_norm"):
            F.embedding_bag(eager.tensor(words), eager.ones(4, 3), max_norm=1.0)

    def test_losses(self):
        labels = np.array([[3, 0, -1, 1], [1, -1, 0, 0], [-1, 2, 2, 2]])
        for reduction in ("mean", "sum", "none"):
            self.check(
                lambda x, y: F.multilabel_margin_loss(x, y, reduction=reduction),
                lambda x, y: TF.multilabel_margin_loss(x, y, reduction=reduction),
                array(3, 4),
                labels,
            )
            for swap in (False, True):
                options = {"margin": 0.5, "swap": swap, "reduction": reduction}
                self.check(
                    lambda a, p, n: nn.TripletMarginWithDistanceLoss(
                        distance_function=lambda x, y: 1 - F.cosine_similarity(x, y), **options
                    )(a, p, n),
                    lambda a, p, n: torch.nn.TripletMarginWithDistanceLoss(
                        distance_function=lambda x, y: 1 - TF.cosine_similarity(x, y), **options
                    )(a, p, n),
                    array(4, 3),
                    array(4, 3),
                    array(4, 3),
                )

    def test_forms_and_slopes(self):
        self.check(F.bilinear, TF.bilinear, array(5, 3), array(5, 4), array(2, 3, 4), array(2))
        self.check(F.rrelu, TF.rrelu, array(4, 5), tolerance=1e-7)  # the slope is an attribute, a float32
        x = array(2, 3, 4, 4)
        self.check(
            lambda t: F.upsample(t, scale_factor=2, mode="bilinear", align_corners=True),
            lambda t: TF.interpolate(t, scale_factor=2, mode="bilinear", align_corners=True),
            x,
            tolerance=1e-3,  # places are float32 in ONNX's Resize
        )
        noisy = nn.RReLU(0.1, 0.2)(eager.full((1000,), -1.0))
        self.assertTrue(-0.2 <= noisy.min().item() < -0.19 and -0.11 < noisy.max().item() <= -0.1)

    def test_linear_algebra(self):
        a, b = array(2, 3, 6), array(2, 3)
        self.check(eager.linalg.tensorsolve, torch.linalg.tensorsolve, a, b, tolerance=1e-7)
        self.check(lambda t: eager.linalg.tensorinv(t, ind=2), lambda t: torch.linalg.tensorinv(t, ind=2), a,
                   tolerance=1e-7)
        self.check(lambda t: eager.linalg.vander(t, N=4), lambda t: torch.linalg.vander(t, N=4), array(2, 3))

    def test_fourier_transforms(self):
        pairs = array(3, 5, 2)
        for norm in (None, "forward", "ortho"):
            self.check(
                lambda t: eager.fft.hfft(t, 7, norm=norm),
                lambda t: torch.fft.hfft(torch.view_as_complex(t), 7, norm=norm),
                pairs,
            )
            self.check(lambda t: eager.fft.ihfft(t, norm=norm), lambda t: torch.fft.ihfft(t, norm=norm), array(3, 6))

    def test_special_functions(self):
        x = array(50) * 10
        for name in ("i0", "i0e", "i1", "i1e"):
            self.check(getattr(eager.special, name), getattr(torch.special, name), x)
        for n in (1, 2, 5):
            self.check(lambda t: eager.polygamma(n, t), lambda t: torch.polygamma(n, t), np.abs(x) + 0.1,
                       tolerance=1e-6)

    def test_parts_of_numbers(self):
        x = np.concatenate([array(20) * 1e3, [0.0, 1e-310, 1e300]])
        self.check(eager.frexp, torch.frexp, x, gradients=False)
        self.assertEqual(eager.frexp(eager.tensor(x)).exponent.dtype, eager.int32)
        self.check(eager.nextafter, torch.nextafter, x, array(23), gradients=False, tolerance=0)

    def test_statistics(self):
        x = array(6, 20)
        x[NUMBERS.random((6, 20)) < 0.3] = np.nan
        for q in (0.0, 0.35, 1.0):
            self.check(lambda t: eager.nanquantile(t, q, 1), lambda t: torch.nanquantile(t, q, 1), x,
                       tolerance=1e-6)
        x = array(100)
        for bins, options in ((5, {}), (7, {"range": (-1.0, 1.5)}), (4, {"density": True})):
            self.check(
                lambda t: eager.histogram(t, bins, **options),
                lambda t: torch.histogram(t, bins, **options),
                x,
                gradients=False,
            )
        self.check(eager.histogram, torch.histogram, x, np.array([-1.0, 0.0, 0.5, 2.0]), gradients=False)

    def test_types(self):
        ours = (eager.bool, eager.uint8, eager.int8, eager.int16, eager.int32, eager.int64, eager.float16, eager.float32, eager.float64)
        theirs = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64)
        names = {b: a for a, b in zip(ours, theirs)}
        for a, b in zip(ours, theirs):
            for c, d in zip(ours, theirs):
                self.assertEqual(eager.promote_types(a, c), names[torch.promote_types(b, d)])
                self.assertEqual(eager.can_cast(a, c), torch.can_cast(b, d), (a, c))
                tensor, other = eager.ones(2, dtype=a), eager.ones((), dtype=c)
                expected = torch.result_type(torch.ones(2, dtype=b), torch.ones((), dtype=d))
                self.assertEqual(eager.result_type(tensor, other), names[expected])
            for number in (True, 2, 2.5):
                expected = torch.result_type(torch.ones(2, dtype=b), number)
                self.assertEqual(eager.result_type(eager.ones(2, dtype=a), number), names[expected])


class Gradcheck(unittest.TestCase):
    def test_of_rules(self):
        class Cube(eager.autograd.Function):
            factor = 3

            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x**3

            @staticmethod
            def backward(ctx, gradient):
                (x,) = ctx.saved_tensors
                return gradient * Cube.factor * x**2

        x = eager.tensor([1.0, -2.0], dtype=eager.float64, requires_grad=True)
        self.assertTrue(eager.autograd.gradcheck(Cube.apply, (x,)))
        Cube.factor = 2
        self.assertFalse(eager.autograd.gradcheck(Cube.apply, x, raise_exception=False))
        with self.assertRaisesRegex(InvalidArgument, "element 0 of result 0 by element 0 of input 0"):
            eager.autograd.gradcheck(Cube.apply, (x,))


if __name__ == "__main__":
    unittest.main()
