"""What torch programs write that is more than a function's name: modes, checkpoints, default types, functions of their own."""
import collections
import io
import math
import os
import tempfile
import unittest

import numpy as np

from sardonyx import InvalidArgument, eager
from sardonyx.eager import nn, optim

F = nn.functional


class Checkpoints(unittest.TestCase):
    def checkpoint(self):
        net = nn.Sequential(nn.Linear(3, 2), nn.ReLU(inplace=True))
        optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        net(eager.ones(1, 3)).sum().backward()
        optimizer.step()
        return net, optimizer, {
            "model": net.state_dict(),
            "optimizer": optimizer.state_dict(),
            "epoch": 3,
            "losses": [1.5, np.float64(0.25)],
            "best": (2, "x"),
            "nothing": None,
            "done": True,
            7: collections.OrderedDict(w=eager.tensor([1, 2])),
        }

    def assert_comes_back(self, found):
        net, optimizer, written = self.checkpoint()
        self.assertEqual(list(found), list(written))
        self.assertEqual(found["epoch"], 3)
        self.assertEqual(found["losses"], [1.5, 0.25])
        self.assertEqual(found["best"], (2, "x"))
        self.assertIsNone(found["nothing"])
        self.assertIs(found["done"], True)
        self.assertEqual(found[7]["w"].tolist(), [1, 2])
        self.assertEqual(net.load_state_dict(found["model"]), ([], []))
        optimizer.load_state_dict(found["optimizer"])
        self.assertEqual(optimizer.param_groups[0]["momentum"], 0.9)

    def test_of_a_model_and_its_optimizer(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("c.pt", "c.ckpt", "model_best.pth.tar"):
                path = os.path.join(folder, name)
                eager.save(self.checkpoint()[2], path)
                self.assert_comes_back(eager.load(path, map_location="cpu", weights_only=True))
            open_file = io.BytesIO()
            eager.save(self.checkpoint()[2], open_file)
            open_file.seek(0)
            self.assert_comes_back(eager.load(open_file))

    def test_of_other_things_are_refused_by_their_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "c.pt")
            holds_itself = {}
            holds_itself["self"] = holds_itself
            for thing, error, said in (
                (nn.Linear(1, 1), TypeError, r"save\(\): obj: expected tensors.*got Linear; save its state_dict\(\)"),
                ({"a": [1, {"b": {1, 2}}]}, TypeError, r"save\(\): a\.1\.b: expected tensors.*got set"),
                ({1.5: 1}, TypeError, r"save\(\): obj: expected text and integers as keys, got 1\.5"),
                ({"a": 2**64}, ValueError, r"save\(\): a: 18446744073709551616 does not fit into 64 bits"),
                (holds_itself, ValueError, "does a dict or list hold itself"),
            ):
                with self.assertRaisesRegex(error, said):
                    eager.save(thing, path)
            with self.assertRaisesRegex(TypeError, "expected a dict of tensors for"):
                eager.save({"epoch": 3}, os.path.join(folder, "c.npz"))
            with self.assertRaises(ValueError):
                eager.load(path, map_location="cuda")


class Modes(unittest.TestCase):
    def test_set_grad_enabled(self):
        x = eager.ones(2, requires_grad=True)
        for mode in (False, True):
            with eager.set_grad_enabled(mode):
                self.assertEqual((x * 2).requires_grad, mode)
        eager.set_grad_enabled(False)
        self.assertFalse(eager.is_grad_enabled())
        with eager.enable_grad():
            self.assertTrue(eager.is_grad_enabled())
        self.assertFalse(eager.is_grad_enabled())
        eager.set_grad_enabled(True)
        self.assertTrue(eager.is_grad_enabled())

        @eager.set_grad_enabled(False)
        def plain(y):
            return y * 2

        self.assertTrue(eager.is_grad_enabled())
        self.assertFalse(plain(x).requires_grad)
        with eager.inference_mode():
            self.assertFalse((x * 2).requires_grad)

    def test_the_default_type(self):
        try:
            eager.set_default_dtype(eager.float64)
            self.assertEqual(eager.get_default_dtype(), eager.float64)
            layer = nn.Linear(2, 3)
            self.assertEqual(layer.weight.dtype, eager.float64)
            made = [eager.tensor([1.5]), eager.zeros(2), eager.full((2,), 0.5), eager.arange(0, 1, 0.5), eager.randn(2)]
            self.assertEqual({one.dtype for one in made}, {eager.float64})
            self.assertEqual(eager.tensor([0.1]).item(), 0.1)
            self.assertEqual(eager.tensor([1]).dtype, eager.int64)
            self.assertEqual(eager.zeros(1, dtype=eager.float32).dtype, eager.float32)
            self.assertEqual(layer(eager.ones(1, 2)).dtype, eager.float64)
            self.assertEqual(eager.finfo().eps, 2.0**-52)
        finally:
            eager.set_default_dtype("float32")
        self.assertEqual(eager.tensor([1.5]).dtype, eager.float32)
        with self.assertRaisesRegex(TypeError, r"set_default_dtype\(\): d: expected a floating type, got int64"):
            eager.set_default_dtype(eager.int64)


class Idioms(unittest.TestCase):
    def assert_close(self, found, expected, tolerance=1e-6):
        np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)

    def test_what_writes_in_place_in_torch(self):
        x = eager.tensor([-1.0, 2.0])
        for layer in (
            nn.ReLU(inplace=True),
            nn.ReLU(True),
            nn.LeakyReLU(0.0, inplace=True),
            nn.Hardtanh(0.0, 9.0, inplace=True),
            nn.Threshold(0.0, 0.0, True),
            lambda x: F.relu(x, inplace=True),
            lambda x: F.leaky_relu(x, 0.0, True),
            lambda x: F.dropout(F.relu(x), 0.5, False, True),
        ):
            self.assert_close(layer(x), [0, 2])
        self.assert_close(x, [-1, 2])
        for name in ("ReLU6", "SELU", "SiLU", "Hardsigmoid", "Hardswish", "Mish", "ELU", "CELU", "Dropout", "Dropout2d"):
            self.assertEqual(getattr(nn, name)(inplace=True).inplace, True)

    def test_softplus(self):
        x = eager.tensor([-1.0, 0.5, 2.0])
        self.assert_close(F.softplus(x, beta=2, threshold=1.5), [0.06346400082, 0.65663081407, 2])
        self.assert_close(nn.Softplus(2, 1.5)(x), [0.06346400082, 0.65663081407, 2])
        self.assert_close(nn.Softplus(beta=2)(x), np.log1p(np.exp(2 * x.numpy())) / 2)

    def test_places(self):
        x = eager.tensor([[0, 3], [4, 0]])
        rows, columns = x.nonzero(as_tuple=True)
        self.assertEqual((rows.tolist(), columns.tolist()), ([0, 1], [1, 0]))
        self.assertEqual(eager.nonzero(x).tolist(), [[0, 1], [1, 0]])
        self.assertEqual(x[rows, columns].tolist(), [3, 4])

    def test_windows_types_and_shifts(self):
        x = eager.arange(7.0)
        self.assertEqual(x.unfold(0, 3, 2).tolist(), [[0, 1, 2], [2, 3, 4], [4, 5, 6]])
        self.assertEqual(x.type(), "torch.FloatTensor")
        self.assertEqual(x.type(eager.int64).type(), "torch.LongTensor")
        self.assertEqual(x.type("torch.DoubleTensor").dtype, eager.float64)
        n = eager.tensor([1, -8])
        self.assertEqual((n << 2).tolist(), [4, -32])
        self.assertEqual((n >> 1).tolist(), [0, -4])
        self.assertEqual((1 << eager.tensor([0, 5])).tolist(), [1, 32])
        with self.assertRaisesRegex(InvalidArgument, "expected integers"):
            x << 1
        self.assertEqual(eager.zeros(2, 3, 4).stride(), (12, 4, 1))
        self.assertTrue(x.is_contiguous())

    def test_rows(self):
        self.assertEqual(eager.combinations(eager.tensor([1, 2, 3])).tolist(), [[1, 2], [1, 3], [2, 3]])
        self.assertEqual(eager.vander(eager.tensor([2, 3]), 3, True).tolist(), [[1, 2, 4], [1, 3, 9]])
        rows = eager.tensor([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]])
        self.assert_close(F.pdist(rows), [5, 5, 0])
        self.assert_close(nn.PairwiseDistance(eps=0.0)(rows[0], rows[1]), 5)
        self.assert_close(rows.renorm(2, 0, 1.0)[1], [0.6, 0.8])
        self.assertEqual(eager.msort(eager.tensor([3, 1, 2])).tolist(), [1, 2, 3])
        self.assert_close(eager.diagflat(eager.tensor([1.0, 2.0])), [[1, 0], [0, 2]])
        self.assert_close(eager.addr(eager.ones(2, 2), rows[1], rows[1], alpha=2), [[19, 25], [25, 33]])
        a = eager.tensor([[2.0, 1.0], [0.0, 3.0]])
        self.assert_close(a.logdet(), math.log(6))
        self.assertTrue(math.isnan(eager.logdet(-a[[1, 0]] @ a[[1, 0]] @ eager.tensor([[0.0, 1.0], [1.0, 0.0]])).item()))
        self.assert_close(a.inverse() @ a, np.eye(2))
        self.assertEqual(eager.ones(3, 4).sum_to_size(1, 4).tolist(), [[3, 3, 3, 3]])
        self.assertEqual(eager.broadcast_shapes((2, 1), (3,)), (2, 3))
        padded = nn.utils.rnn.pad_sequence([eager.ones(2), eager.ones(3)], batch_first=True, padding_value=-1)
        self.assertEqual(padded.tolist(), [[1, 1, -1], [1, 1, 1]])
        self.assertAlmostEqual(nn.init.calculate_gain("leaky_relu", 1.0), 1.0)

    def test_special_functions(self):
        special = eager.special
        x = eager.tensor([-3.0, 0.5, 2.0])
        values = x.tolist()
        normal = [0.5 * math.erfc(-v / math.sqrt(2)) for v in values]
        self.assert_close(special.ndtr(x), normal)
        self.assert_close(special.log_ndtr(x), np.log(normal))
        self.assert_close(special.ndtri(special.ndtr(x)), values, 1e-5)
        self.assert_close(special.expit(x), 1 / (1 + np.exp(-np.float64(values))))
        self.assert_close(special.erfcx(x), [math.exp(v * v) * math.erfc(v) for v in values])
        np.testing.assert_allclose(eager.erfc(eager.tensor([5.0, 9.0])).numpy(), [math.erfc(5.0), math.erfc(9.0)], rtol=1e-6)
        self.assert_close(special.gammaln(eager.tensor([5.0])), [math.log(24)])
        self.assert_close(special.entr(eager.tensor([0.0, 0.5])), [0, 0.5 * math.log(2)])
        self.assert_close(special.xlog1py(eager.tensor([0.0, 2.0]), eager.tensor([-1.0, 1.0])), [0, 2 * math.log(2)])

    def test_batch_norm_as_a_function(self):
        x = eager.tensor(np.random.default_rng(1).standard_normal((4, 3, 5)).astype("f"))
        layer = nn.BatchNorm1d(3)
        mean, variance = eager.zeros(3), eager.ones(3)
        found = F.batch_norm(x, mean, variance, layer.weight, layer.bias, True, 0.1)
        self.assert_close(found.detach(), layer(x).detach().numpy())
        self.assert_close(mean, layer.running_mean.numpy())
        self.assert_close(variance, layer.running_var.numpy())
        layer.eval()
        self.assert_close(F.batch_norm(x, mean, variance).detach(), layer(x).detach().numpy())

    def test_gradients_of_gradients_as_torch_asks_for_them(self):
        x = eager.tensor([2.0], requires_grad=True)
        (slope,) = eager.autograd.grad(outputs=x**3, inputs=x, retain_graph=None, create_graph=True, only_inputs=True)
        slope.backward(retain_graph=None)
        self.assertEqual(x.grad.item(), 12)
        y = x * x
        eager.autograd.backward([y, y * 2])
        self.assertEqual(x.grad.item(), 12 + 4 + 8)


class Rounded(eager.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return eager.round(x * scale) / scale

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * (x.abs() <= 1) * ctx.scale, None


class TwoResults(eager.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a * 2, b * 3

    @staticmethod
    def backward(ctx, of_a, of_b):
        return of_a * 2, of_b * 3


class Functions(unittest.TestCase):
    def test_have_gradients_of_their_own(self):
        x = eager.tensor([0.3, 5.3], requires_grad=True)
        y = Rounded.apply(x, 2.0)
        self.assertEqual(y.tolist(), [0.5, 5.5])
        y.sum().backward()
        self.assertEqual(x.grad.tolist(), [2, 0])

    def test_results_that_nobody_uses_have_zeros(self):
        a, b = (eager.tensor([1.0], requires_grad=True) for _ in range(2))
        TwoResults.apply(a, b)[0].sum().backward()
        self.assertEqual((a.grad.tolist(), b.grad.tolist()), ([2], [0]))

    def test_in_a_compiled_step(self):
        p = nn.Parameter(eager.tensor([0.3, 0.6]))
        optimizer = optim.SGD([p], lr=0.5)

        def step(x):
            optimizer.zero_grad()
            loss = (Rounded.apply(p, 4.0) * x).sum()
            loss.backward()
            optimizer.step()
            return loss

        compiled = eager.compile(step)
        before = p.detach().clone()
        losses = [compiled(eager.tensor([1.0, 2.0])).item() for _ in range(2)]
        after = p.detach().tolist()
        p.assign(before)
        self.assertEqual(losses, [step(eager.tensor([1.0, 2.0])).item() for _ in range(2)])
        self.assertEqual(after, p.detach().tolist())

    def test_that_forget_a_gradient_are_told(self):
        class Short(TwoResults):
            @staticmethod
            def backward(ctx, of_a, of_b):
                return of_a

        a = eager.tensor([1.0], requires_grad=True)
        with self.assertRaisesRegex(RuntimeError, "Short.backward: expected a gradient, or None, for each of 2 arguments, got 1"):
            Short.apply(a, a)[0].sum().backward()


class CompiledSteps(unittest.TestCase):
    def test_see_the_momentum_that_a_schedule_sets(self):
        for make in (
            lambda p: optim.SGD(p, lr=0.1, momentum=0.5),
            lambda p: optim.Adam(p, lr=0.1),
            lambda p: optim.NAdam(p, lr=0.1),
        ):
            runs = []
            for is_compiled in (False, True):
                p = nn.Parameter(eager.tensor([1.0, -2.0]))
                optimizer = make([p])
                schedule = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.2, total_steps=6)

                def step(x):
                    optimizer.zero_grad()
                    loss = (p * p * x).sum()
                    loss.backward()
                    optimizer.step()
                    return loss

                call = eager.compile(step) if is_compiled else step
                for _ in range(6):
                    call(eager.tensor([1.0, 0.5]))
                    schedule.step()
                if is_compiled:
                    self.assertEqual(call.traces, 1)
                runs.append(p.detach().tolist())
            self.assertEqual(*runs)


if __name__ == "__main__":
    unittest.main()
