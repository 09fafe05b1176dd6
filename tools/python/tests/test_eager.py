"""The eager layer: what it computes, how it is trained, and the way to files."""
import gc
import os
import tempfile
import threading
import unittest
import weakref

import numpy as np

import sardonyx
from sardonyx import eager
from sardonyx.eager import nn, op, optim


class Tensors(unittest.TestCase):
    def test_elements(self):
        self.assertEqual(eager.tensor(1.5).item(), 1.5)
        self.assertEqual(eager.tensor([1, 2]).dtype, eager.int64)
        self.assertEqual(eager.tensor([1.0, 2]).dtype, eager.float32)
        self.assertEqual(eager.tensor(np.ones(2)).dtype, eager.float64)
        self.assertEqual(eager.tensor([1, 2], dtype="float16").dtype, eager.float16)
        self.assertEqual(eager.tensor([1, 2], dtype=np.int8).dtype, eager.int8)
        self.assertEqual(eager.tensor(2**63 - 1).item(), 2**63 - 1)
        self.assertEqual(eager.tensor(np.uint64(2**64 - 1)).tolist(), 2**64 - 1)
        array = np.arange(6.0).reshape(2, 3)
        made = eager.tensor(array)
        array[:] = 7
        np.testing.assert_array_equal(made.numpy(), np.arange(6.0).reshape(2, 3))
        made.numpy()[:] = 7  # a copy
        np.testing.assert_array_equal(np.asarray(made), np.arange(6.0).reshape(2, 3))

    def test_operators_are_numpys(self):
        generator = np.random.default_rng(0)
        a, b = generator.normal(size=(3, 4)), generator.normal(size=(4,))
        x, y = eager.tensor(a), eager.tensor(b)
        for name, of in (
            ("+", lambda p, q: p + q),
            ("-", lambda p, q: p - q),
            ("*", lambda p, q: p * q),
            ("/", lambda p, q: p / q),
            ("//", lambda p, q: p // q),
            ("%", lambda p, q: p % q),
            ("<", lambda p, q: p < q),
            (">=", lambda p, q: p >= q),
            ("==", lambda p, q: p == q),
            ("2 -", lambda p, q: 2 - p),
            ("array + tensor", lambda p, q: a + q),
            ("2 **", lambda p, q: 2**p),
            ("neg abs", lambda p, q: -abs(p)),
        ):
            with self.subTest(name):
                np.testing.assert_allclose(np.asarray(of(x, y)), of(a, b), rtol=1e-12)
        np.testing.assert_allclose(np.asarray(x @ y), a @ b)
        self.assertIsInstance(a + y, eager.Tensor)
        masks = eager.tensor([True, False]), eager.tensor([True, True])
        self.assertEqual((masks[0] & masks[1]).tolist(), [True, False])
        self.assertEqual((~masks[0] | masks[0]).tolist(), [True, True])
        self.assertEqual((eager.tensor([5]) ^ 3).tolist(), [6])

    def test_indexing(self):
        a = np.arange(24).reshape(2, 3, 4)
        x = eager.tensor(a)
        rows = np.array([1, 0])
        for key in (
            1,
            -1,
            (0, 2),
            slice(1, None),
            (slice(None), slice(0, 3, 2)),
            (..., 1),
            None,
            (None, 0, ..., None),
            ([1, 0],),
            (rows, rows),
            (slice(None), [0, 2]),
        ):
            with self.subTest(key=key):
                np.testing.assert_array_equal(np.asarray(x[key]), a[key])
        np.testing.assert_array_equal(np.asarray(x[x > 7]), a[a > 7])
        for key in (slice(-7, None, -1), slice(-5, None, -1), slice(-6, None, -2), slice(9, 1, -1), slice(-9, 2)):
            np.testing.assert_array_equal(eager.arange(5)[key].numpy(), np.arange(5)[key])
        self.assertEqual([eager.zeros(shape).T.shape for shape in ((2, 3, 4), (2,), ())], [(4, 3, 2), (2,), ()])
        self.assertEqual(x.index_put((0, 0), eager.tensor([9, 9, 9, 9]))[0, 0].tolist(), [9] * 4)
        self.assertEqual([one.shape for one in x], [(3, 4), (3, 4)])
        self.assertEqual(len(x), 2)
        with self.assertRaisesRegex(TypeError, "index_put"):
            x[0] = 1
        with self.assertRaises(RuntimeError):
            x[5]

    def test_functions_are_numpys(self):
        a = np.random.default_rng(1).uniform(0.1, 0.9, size=(2, 3, 4))
        x = eager.tensor(a)
        for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "floor", "ceil", "abs", "log1p", "expm1"):
            with self.subTest(name):
                wanted = getattr(np, name)(a)
                np.testing.assert_allclose(np.asarray(getattr(eager, name)(x)), wanted, rtol=1e-6)
                np.testing.assert_allclose(np.asarray(getattr(x, name)()), wanted, rtol=1e-6)
        np.testing.assert_allclose(np.asarray(x.sum()), a.sum())
        np.testing.assert_allclose(np.asarray(x.mean((0, 2), keepdim=True)), a.mean((0, 2), keepdims=True))
        np.testing.assert_allclose(np.asarray(x.std(dim=1)), a.std(1, ddof=1))
        values, places = x.max(dim=1)
        np.testing.assert_array_equal(np.asarray(values), a.max(1))
        np.testing.assert_array_equal(np.asarray(places), a.argmax(1))
        np.testing.assert_array_equal(np.asarray(x.permute(2, 0, 1)), a.transpose(2, 0, 1))
        np.testing.assert_array_equal(np.asarray(x.reshape(-1, 4)), a.reshape(-1, 4))
        np.testing.assert_array_equal(np.asarray(eager.cat([x, x], dim=1)), np.concatenate([a, a], 1))
        np.testing.assert_array_equal(np.asarray(eager.stack((x, x))), np.stack([a, a]))
        np.testing.assert_allclose(
            np.asarray(eager.einsum("ijk,ilk->ijl", x, x)), np.einsum("ijk,ilk->ijl", a, a)
        )
        self.assertEqual(eager.arange(2, 8, 3).tolist(), [2, 5])
        self.assertEqual(eager.arange(0.0, 1.0, 0.25).tolist(), [0, 0.25, 0.5, 0.75])
        self.assertEqual(eager.zeros(2, 3).shape, eager.zeros((2, 3)).shape)
        self.assertEqual([part.tolist() for part in eager.arange(5).split(2)], [[0, 1], [2, 3], [4]])

    def test_dlpack(self):
        x = eager.arange(4)
        self.assertEqual(np.from_dlpack(x).tolist(), [0, 1, 2, 3])
        self.assertEqual(eager.from_dlpack(np.arange(3)).tolist(), [0, 1, 2])

    def test_errors_name_the_line(self):
        with self.assertRaisesRegex(sardonyx.InvalidArgument, r"test_eager.py:\d+.*does not broadcast"):
            eager.zeros(2) + eager.zeros(3)
        with self.assertRaisesRegex(TypeError, "dtyp; there are dtype"):
            eager.zeros(2, dtyp="float16")
        with self.assertRaisesRegex(TypeError, "in_features, out_features, bias"):
            nn.Linear(2, 3, bais=False)
        with self.assertRaisesRegex(TypeError, "out_features"):
            nn.Linear(2)
        with self.assertRaisesRegex(TypeError, "kernel_size: expected Ints, got 'x'"):
            nn.Conv2d(1, 1, "x")
        with self.assertRaises(AttributeError):
            nn.Linear(2, 3).wieght
        with self.assertRaisesRegex(sardonyx.InvalidArgument, "kernel"):
            nn.Conv2d(1, 1, 0)

    def test_every_operator_by_name(self):
        x = eager.tensor([[3.0, 1.0, 2.0]])
        values, places = op.TopK(x, eager.tensor([2]), outputs=2)
        self.assertEqual((values.tolist(), places.tolist()), ([[3, 2]], [[0, 2]]))
        self.assertEqual(op.Cast(x, to=eager.int32).dtype, eager.int32)
        self.assertEqual(op.Clip(x, None, eager.tensor(2.0)).tolist(), [[2, 1, 2]])
        self.assertIn("axis", op.Softmax.__doc__)
        self.assertIn("Conv", dir(op))
        with self.assertRaises(AttributeError):
            op.Colv
        with self.assertRaisesRegex(TypeError, "has no attribute axes; there are: axis"):
            op.Softmax(x, axes=1)


class Gradients(unittest.TestCase):
    def test_backward(self):
        x = eager.tensor([2.0, 3.0], requires_grad=True)
        (x * x).sum().backward()
        self.assertEqual(x.grad.tolist(), [4, 6])
        with eager.no_grad():
            self.assertFalse((x * 2).requires_grad)

        @eager.no_grad()
        def doubled():
            return x * 2

        self.assertFalse(doubled().requires_grad)
        self.assertTrue((x * 2).requires_grad)
        (first,) = eager.grad((x**3).sum(), x, create_graph=True)
        (second,) = eager.grad(first.sum(), x)
        self.assertEqual(second.tolist(), [12, 18])

    def test_hooks_and_own_gradients(self):
        x = eager.tensor([1.0, -1.0], requires_grad=True)
        y = x * 3
        y.register_hook(lambda gradient: gradient * 10)
        y.sum().backward()
        self.assertEqual(x.grad.tolist(), [30, 30])
        x.grad = None
        (clipped,) = eager.custom_function(
            lambda a: a.clamp(0, 1), lambda inputs, outputs, grads: grads[0] * 7, (x,)
        )
        clipped.sum().backward()
        self.assertEqual(x.grad.tolist(), [7, 7])

    def test_hooks_are_removed(self):
        x = eager.tensor([1.0], requires_grad=True)
        seen = []
        handle = x.register_hook(lambda gradient: gradient * 10)
        with x.register_hook(lambda gradient: seen.append(gradient.item())):
            (x * 3).backward()
        (x * 3).backward()
        handle.remove()
        (x * 3).backward()
        self.assertEqual((x.grad.tolist(), seen), ([63], [30]))
        once = x.register_hook(lambda gradient: once.remove())  # while it runs
        (x * 3).backward()
        with self.assertRaisesRegex(TypeError, r"register_hook\(\): hook: expected a function, got 3"):
            x.register_hook(3)

    def test_hooks_after_gradients_are_whole(self):
        x = eager.tensor([1.0], requires_grad=True)
        seen = []
        handle = x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.item()))
        (x * 3 + x).backward()
        handle.remove()
        (x * 3).backward()
        self.assertEqual(seen, [4])

    def test_an_exception_in_a_hook_arrives(self):
        x = eager.tensor([1.0], requires_grad=True)

        def fails(gradient):
            raise KeyError("from the hook")

        y = x * 2
        y.register_hook(fails)
        with self.assertRaisesRegex(KeyError, "from the hook"):
            y.backward()

    def test_random_numbers_come_again(self):
        eager.manual_seed(3)
        first = eager.randn(4).tolist()
        eager.manual_seed(3)
        self.assertEqual(eager.randn(4).tolist(), first)
        one, two = eager.Generator(5), eager.Generator(5)
        self.assertEqual(eager.rand(3, generator=one).tolist(), eager.rand(3, generator=two).tolist())


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 8)
        self.norm = nn.BatchNorm1d(8)
        self.blocks = nn.ModuleList([nn.Linear(8, 8) for _ in range(2)])
        self.scale = nn.Parameter(eager.ones(1))
        self.register_buffer("calls", eager.zeros(1))

    def forward(self, x):
        x = self.norm(self.hidden(x)).relu()
        for block in self.blocks:
            x = x + block(x)
        self.calls = self.calls + 1
        return x * self.scale


class Modules(unittest.TestCase):
    def test_registration(self):
        net = Classifier()
        names = [name for name, _ in net.named_parameters()]
        self.assertEqual(names[:3], ["scale", "hidden.weight", "hidden.bias"])
        self.assertIn("blocks.1.bias", names)
        self.assertIn("calls", net.state_dict())
        self.assertEqual([name for name, _ in net.named_children()], ["hidden", "norm", "blocks"])
        self.assertEqual(len(net.modules()), 6)
        net(eager.randn(5, 4))
        self.assertEqual(net.calls.tolist(), [1])
        net.hidden = nn.Linear(4, 8, bias=False)
        self.assertNotIn("hidden.bias", net.state_dict())
        self.assertIsNone(net.hidden.bias)
        net.eval()
        self.assertFalse(net.norm.training)
        with self.assertRaises(TypeError):
            net.scale = "large"

    def test_states(self):
        one, two = Classifier(), Classifier()
        with tempfile.TemporaryDirectory() as folder:
            for end in ("safetensors", "npz", "pt"):
                path = os.path.join(folder, "net." + end)
                eager.save(one.state_dict(), path)
                self.assertEqual(two.load_state_dict(eager.load(path)), ([], []))
                one.eval(), two.eval()
                x = eager.randn(3, 4)
                self.assertTrue(eager.equal(one(x), two(x)))
        with self.assertRaisesRegex(sardonyx.InvalidArgument, "scale"):
            two.load_state_dict({"hidden.weight": eager.zeros(8, 4)})

    def test_hooks(self):
        layer = nn.Linear(2, 2)
        seen = []
        handle = layer.register_forward_hook(lambda module, inputs, output: seen.append(module is layer))
        layer.register_forward_hook(lambda module, inputs, output: output * 0)
        self.assertEqual(layer(eager.ones(1, 2)).tolist(), [[0, 0]])
        handle.remove()
        handle.remove()
        layer(eager.ones(1, 2))
        self.assertEqual(seen, [True])

    def test_constructors_name_the_line(self):
        for make in (
            lambda: nn.Conv2d(3, 4, 3, groups=2),
            lambda: nn.Dropout(2.0),
            lambda: nn.LSTM(0, 3),
            lambda: nn.TransformerEncoderLayer(4, 3),
        ):
            with self.assertRaisesRegex(sardonyx.InvalidArgument, r"test_eager\.py:\d+"):
                make()

    def test_pre_hooks(self):
        layer = nn.Linear(2, 2, bias=False)
        x = eager.ones(1, 2)
        plain = layer(x)
        seen = []
        look = layer.register_forward_pre_hook(lambda module, inputs: seen.append((module is layer, len(inputs))))
        double = layer.register_forward_pre_hook(lambda module, inputs: (inputs[0] * 2,))
        self.assertTrue(eager.equal(layer(x), plain * 2))
        self.assertEqual(seen, [(True, 1)])
        double.remove()
        layer.register_forward_pre_hook(lambda module, inputs: inputs[0] * 3)
        self.assertTrue(eager.equal(layer(x), layer.weight.sum(1).reshape(1, 2) * 3))
        look.remove()
        layer.register_forward_pre_hook(lambda module, inputs: (inputs[0], inputs[0]))
        with self.assertRaisesRegex(sardonyx.InvalidArgument, "a hook before Linear left 2 inputs of 1"):
            layer(x)

        class Pair(nn.Module):
            def forward(self, x, others, scale=1):
                return x * scale, [other * scale for other in others]

        pair = Pair()
        pair.register_forward_pre_hook(lambda module, inputs: [tensor + 1 for tensor in inputs])
        pair.register_forward_hook(lambda module, inputs, outputs: [tensor - inputs[0] for tensor in outputs])
        first, rest = pair(eager.ones(1), [eager.zeros(1), eager.ones(1)], scale=5)
        self.assertEqual((first.tolist(), [one.tolist() for one in rest]), ([8], [[3], [8]]))
        with self.assertRaises(ZeroDivisionError):
            layer = nn.Linear(2, 2)
            layer.register_forward_pre_hook(lambda module, inputs: 1 / 0)
            layer(x)

    def test_modules_are_let_go(self):
        net = Classifier()
        net(eager.randn(3, 4)).sum().backward()
        gone = weakref.ref(net)
        del net
        gc.collect()
        self.assertIsNone(gone())

    def test_every_layer_runs(self):
        image, sequence, rows = eager.randn(2, 4, 8, 8), eager.randn(2, 4, 8), eager.randn(2, 4)
        for layer, x in (
            (nn.Conv1d(4, 6, 3, padding="same"), sequence),
            (nn.Conv2d(4, 6, (3, 1), stride=2, padding=(1, 0)), image),
            (nn.ConvTranspose2d(4, 2, 2, 2), image),
            (nn.MaxPool2d(2), image),
            (nn.AvgPool2d(3, 1, 1), image),
            (nn.AdaptiveAvgPool2d(1), image),
            (nn.BatchNorm2d(4), image),
            (nn.InstanceNorm2d(4, affine=True), image),
            (nn.GroupNorm(2, 4), image),
            (nn.LayerNorm(8), image),
            (nn.RMSNorm(8), image),
            (nn.Upsample(scale_factor=2, mode="bilinear"), image),
            (nn.ReflectionPad2d(1), image),
            (nn.ConstantPad2d((1, 2, 0, 1), 3.0), image),
            (nn.PixelShuffle(2), image),
            (nn.Flatten(), image),
            (nn.PReLU(4), image),
            (nn.GELU("tanh"), image),
            (nn.Softmax(dim=1), image),
            (nn.Dropout2d(0.3), image),
            (nn.Embedding(5, 3), eager.tensor([[1, 4], [0, 2]])),
            (nn.TransformerEncoderLayer(4, 2, dim_feedforward=8, batch_first=True), sequence.transpose(1, 2)),
            (nn.Linear(4, 3), rows),
        ):
            with self.subTest(layer=repr(layer)):
                y = layer(x)
                self.assertTrue(eager.isfinite(y).all().item())
                if any(True for _ in layer.parameters()):
                    y.sum().backward()
                    self.assertTrue(all(p.grad is not None for p in layer.parameters()))
        output, (hidden, cell) = nn.LSTM(4, 5, num_layers=2, bidirectional=True)(sequence.permute(2, 0, 1))
        self.assertEqual((output.shape, hidden.shape, cell.shape), ((8, 2, 10), (4, 2, 5), (4, 2, 5)))
        output, weights = nn.MultiheadAttention(4, 2, batch_first=True)(*[sequence.transpose(1, 2)] * 3)
        self.assertEqual((output.shape, weights.shape), ((2, 8, 4), (2, 8, 8)))
        hidden, cell = nn.LSTMCell(4, 6)(rows)
        self.assertEqual(hidden.shape, (2, 6))

    def test_losses(self):
        scores, classes = eager.randn(5, 3), eager.tensor([0, 2, 1, 1, 0])
        logs = scores.log_softmax(1)
        wanted = -np.asarray(logs)[np.arange(5), np.asarray(classes)].mean()
        for loss in (
            nn.cross_entropy(scores, classes),
            nn.CrossEntropyLoss()(scores, classes),
            nn.nll_loss(logs, classes),
        ):
            self.assertAlmostEqual(loss.item(), wanted, places=5)
        each = nn.cross_entropy(scores, classes, reduction="none")
        self.assertEqual(each.shape, (5,))
        target = scores.softmax(1)
        batch_mean = nn.KLDivLoss(reduction="batchmean")(logs * 2, target)
        self.assertAlmostEqual(batch_mean.item(), nn.kl_div(logs * 2, target, reduction="sum").item() / 5, places=5)
        with self.assertRaisesRegex(TypeError, "'none', 'mean', 'sum' or 'batchmean', got 'median'"):
            nn.KLDivLoss(reduction="median")
        with self.assertRaisesRegex(TypeError, "reduction: expected 'none', 'mean' or 'sum', got 'median'"):
            nn.mse_loss(scores, scores, reduction="median")


class Training(unittest.TestCase):
    def fit(self, make, compiles):
        eager.manual_seed(0)
        net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
        optimizer = make(net.parameters())
        x = eager.randn(64, 2)
        y = (x[:, 0] * x[:, 1] > 0).to("int64")

        def step(x, y):
            optimizer.zero_grad()
            loss = nn.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            return loss

        run = eager.compile(step) if compiles else step
        return [run(x, y).item() for _ in range(40)]

    def test_optimizers(self):
        for make in (
            lambda p: optim.SGD(p, lr=0.5, momentum=0.9),
            lambda p: optim.Adam(p, 0.05, betas=(0.9, 0.99)),
            lambda p: optim.AdamW([{"params": p[:2], "lr": 0.05}, {"params": p[2:]}], lr=0.02),
            lambda p: optim.RMSprop(p, lr=0.02),
            lambda p: optim.NAdam(p, lr=0.05),
        ):
            eagerly, compiled = self.fit(make, False), self.fit(make, True)
            self.assertLess(eagerly[-1], 0.7 * eagerly[0])
            np.testing.assert_allclose(compiled, eagerly, rtol=1e-3)

    def test_schedules(self):
        p = eager.zeros(1, requires_grad=True)
        optimizer = optim.SGD([p], lr=1.0)
        schedule = optim.SequentialLR(
            optimizer,
            [optim.LinearLR(optimizer, 0.5, 1.0, 2), optim.LambdaLR(optimizer, lambda step: 0.1**step)],
            [2],
        )
        rates = []
        for _ in range(4):
            rates.append(optimizer.lr)
            schedule.step()
        np.testing.assert_allclose(rates, [0.5, 0.75, 1.0, 0.1])

    def test_closure(self):
        p = eager.tensor([3.0, -2.0], requires_grad=True)
        optimizer = optim.LBFGS([p], line_search_fn="strong_wolfe")

        def closure():
            optimizer.zero_grad()
            loss = ((p - 1) ** 2).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        np.testing.assert_allclose(p.tolist(), [1, 1], atol=1e-4)

    def test_threads_train_beside_each_other(self):
        results = [None] * 3

        def work(i):
            results[i] = self.fit_alone(i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [self.fit_alone(i) for i in range(3)])

    def fit_alone(self, seed):
        generator = eager.Generator(seed)
        w = eager.randn(3, 3, generator=generator).detach().requires_grad_()
        optimizer = optim.SGD([w], lr=0.1)
        x = eager.randn(8, 3, generator=generator)
        for _ in range(10):
            optimizer.zero_grad()
            ((x @ w) ** 2).mean().backward()
            optimizer.step()
        return w.tolist()


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "model.onnx")

    def test_export(self):
        net = Classifier()
        net(eager.randn(16, 4))
        x = eager.randn(3, 4)
        report = eager.export_onnx(
            net, x, self.path, input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "batch"}}
        )
        self.assertIn("verified batch=7", report)
        self.assertTrue(net.training)
        net.eval()
        session = sardonyx.InferenceSession(self.path)
        for rows in (1, 9):
            x = eager.randn(rows, 4)
            (y,) = session.run(None, {"x": x.numpy()})
            np.testing.assert_allclose(y, np.asarray(net(x)), rtol=1e-4, atol=1e-5)

    def test_a_baked_size_is_refused(self):
        with self.assertRaisesRegex(RuntimeError, "test_eager.py"):
            eager.export_onnx(
                lambda x: x * 2 if x.shape[0] == 3 else x * 3,
                eager.randn(3, 4),
                self.path,
                input_names=["x"],
                dynamic_axes={"x": [0]},
            )
        self.assertFalse(os.path.exists(self.path))

    def test_sizes_in_a_trace(self):
        def function(x):
            rows, columns = x.shape
            return x.reshape(rows * columns // 2, 2).sum(0) / eager.dim_tensor(rows)

        eager.export_onnx(function, eager.randn(4, 2), self.path, input_names=["x"], dynamic_axes={"x": {0: "n"}})
        x = np.ones((6, 2), np.float32)
        (y,) = sardonyx.InferenceSession(self.path).run(None, {"x": x})
        np.testing.assert_allclose(y, [1, 1])

    def test_compile_traces_anew(self):
        dropout = nn.Dropout(0.5)
        run = eager.compile(lambda x: dropout(x) + 1)
        x = eager.ones(100)
        run(x)
        dropout.eval()
        self.assertEqual(run(x).tolist(), [2.0] * 100)
        self.assertEqual(run.traces, 2)
        self.assertTrue(any("evaluation" in line for line in run.trace_log))
        self.assertIsInstance(eager.compile(lambda a, b: (a + b, a - b))(x, x), tuple)

    def test_control_flow(self):
        def collatz(n):
            return eager.while_loop(
                lambda n, count: n != 1,
                lambda n, count: (eager.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1), count + 1),
                (n, eager.tensor(0)),
            )[1]

        self.assertEqual(collatz(eager.tensor(27)).item(), 111)
        eager.export_onnx(collatz, eager.tensor(6), self.path, input_names=["n"])
        session = sardonyx.InferenceSession(self.path)
        self.assertEqual(session.run(None, {"n": np.array(27)})[0], 111)

    def test_custom_operators(self):
        sardonyx.register_custom_op(
            "test.eager::Twice",
            lambda x: 2 * x,
            "(X: T) -> (Y: T)",
            types={"T": ["float"]},
            infer=lambda x: [(x.dtype, x.shape)],
        )
        self.assertEqual(op.call("test.eager::Twice", eager.tensor([1.5])).tolist(), [3])


if __name__ == "__main__":
    unittest.main()
