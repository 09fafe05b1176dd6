"""Names of torch: values against NumPy's, keywords, named results, messages."""
import copy
import gc
import io
import pickle
import unittest
import weakref

import numpy as np

from sardonyx import InvalidArgument, eager
from sardonyx.eager import amp, func, nn, optim

NUMBERS = np.random.default_rng(1)


def array(*shape):
    return NUMBERS.standard_normal(shape).astype(np.float32)


class Functions(unittest.TestCase):
    def assert_same(self, found, expected, tolerance=1e-5):
        found = found.numpy() if isinstance(found, eager.Tensor) else found
        self.assertEqual(found.shape, np.shape(expected))
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)

    def test_against_numpy(self):
        a, b = array(3, 4), array(4, 5)
        x, y = eager.tensor(a), eager.tensor(b)
        cases = [
            (eager.median(eager.tensor(a[0, :3])), np.median(a[0, :3])),
            (eager.nanmedian(eager.tensor([1.0, np.nan, 3.0, 2.0])), np.float32(2)),
            (eager.tensor([[1.0, np.nan], [5.0, 4.0]]).nanmedian(dim=1).values, np.float32([1, 4])),
            (eager.tensor([3.0, 1.0, 3.0, 1.0]).mode().values, np.float32(1)),
            (eager.tensor([3, 1, 3, 1]).mode(dim=0, keepdim=True).indices, np.int64([3])),
            (eager.tensor([12, -18]).gcd(eager.tensor([18, 12])), np.int64([6, 6])),
            (eager.lcm(eager.tensor([4, 6]), 10), np.int64([20, 30])),
            (x.quantile(0.3, dim=1), np.quantile(a, 0.3, axis=1)),
            (x.quantile(eager.tensor([0.25, 0.5])), np.quantile(a, [0.25, 0.5])),
            (eager.tile(x, (2, 1)), np.tile(a, (2, 1))),
            (x.movedim(0, 1), np.moveaxis(a, 0, 1)),
            (eager.tensordot(x, y, dims=1), np.tensordot(a, b, 1)),
            (eager.tensordot(x, y, dims=([1], [0])), np.tensordot(a, b, ([1], [0]))),
            (eager.cdist(x, x + 1), np.linalg.norm(a[:, None] - (a + 1)[None], axis=2)),
            (x.var(unbiased=False), a.var()),
            (x.var(1), a.var(1, ddof=1)),
            (x.std(axis=1, keepdims=True, correction=0), a.std(1, keepdims=True)),
            (x.sum(axis=0), a.sum(0)),
            (x.sum(dim=(0, 1), dtype=eager.float64), a.astype("d").sum()),
            (x.rot90(), np.rot90(a)),
            (x.flip(0, 1), a[::-1, ::-1]),
            (x.roll(1, 0), np.roll(a, 1, 0)),
            (x.diff(), np.diff(a)),
            (eager.trapezoid(x, dx=0.5), ((a[:, 1:] + a[:, :-1]) / 4).sum(1)),
            (eager.addmm(eager.ones(3, 5), x, y, beta=2, alpha=0.5), 2 + a @ b / 2),
            (x.add(x, alpha=3), 4 * a),
            (x.div(eager.tensor(a[0]), rounding_mode="floor"), np.floor_divide(a, a[0])),
            (x.clip(-0.5, eager.zeros(4)), np.clip(a, -0.5, 0)),
            (eager.hstack([x, x]), np.hstack([a, a])),
            (eager.block_diag(x, y)[:3, 4:], np.zeros((3, 5))),
            (x.nan_to_num(), a),
            (eager.where(x > 0, x, 0.0), np.where(a > 0, a, 0)),
            (x.norm(dim=1), np.linalg.norm(a, axis=1)),
            (x.norm(float("inf")), np.abs(a).max()),
            (eager.lgamma(eager.tensor([5.0])), np.log([24.0])),
            (x.squeeze(0), a),
            (eager.full((2,), 7), np.array([7, 7])),
            (eager.arange(1, 7, 2), np.arange(1, 7, 2)),
            (eager.randint(5, (2, 3)) < 5, np.ones((2, 3), bool)),
        ]
        for number, (found, expected) in enumerate(cases):
            with self.subTest(number):
                self.assert_same(found, expected)
        self.assertEqual(eager.full((2,), 7).dtype, eager.int64)

    def test_counts(self):
        x = eager.tensor([3, 1, 3, 0])
        self.assertEqual(eager.bincount(x, minlength=6).tolist(), [1, 1, 0, 2, 0, 0])
        self.assertEqual(x.unique().tolist(), [0, 1, 3])
        values, inverse, counts = eager.unique(x, return_inverse=True, return_counts=True)
        self.assertEqual((inverse.tolist(), counts.tolist()), ([2, 1, 2, 0], [1, 1, 2]))
        self.assertEqual(eager.bucketize(x, eager.tensor([1, 2])).tolist(), [2, 0, 2, 0])
        self.assertEqual(eager.isin(x, eager.tensor([1, 3])).tolist(), [True, True, True, False])

    def test_named_results(self):
        x = eager.tensor([[3.0, 1.0, 2.0]])
        for found in (x.max(1), x.sort(1), x.topk(2, dim=1), x.median(dim=1), eager.cummax(x, 1), x.kthvalue(2)):
            self.assertIs(found[0], found.values)
            self.assertIs(found[1], found.indices)
        self.assertEqual(x.sort(descending=True).indices.tolist(), [[0, 2, 1]])
        self.assertEqual(x.aminmax().max.item(), 3)
        self.assertEqual(pickle.loads(pickle.dumps(x.max(dim=1))).values.item(), 3)

    def test_transforms_of_fourier(self):
        a = array(3, 8)
        x = eager.tensor(a)
        found = eager.fft.rfft(x, norm="ortho").numpy()
        expected = np.fft.rfft(a, norm="ortho")
        np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], expected, atol=1e-5)
        self.assert_same(eager.fft.irfft(eager.fft.rfft(x)), a)
        self.assert_same(eager.fft.irfft2(eager.fft.rfft2(x)), a)
        self.assert_same(eager.fft.fftfreq(4), np.fft.fftfreq(4))

    def test_indices_apart(self):
        a = array(2, 3, 4, 5)
        x = eager.tensor(a)
        self.assert_same(x[:, [0, 1], :, [1, 2]], a[:, [0, 1], :, [1, 2]])
        self.assert_same(x[[1, 0], ..., [[4], [0]]], a[[1, 0], ..., [[4], [0]]])
        self.assert_same(x[:, [0, 2], [1, 3]], a[:, [0, 2], [1, 3]])

    def test_of_nothing(self):
        for refused in (lambda x: x.max(), lambda x: x.amin(), lambda x: x.argmax()):
            with self.assertRaises(RuntimeError):
                refused(eager.zeros(0))
        with self.assertRaises(RuntimeError):
            eager.zeros(2, 3).reshape(0, -1)

    def test_functions_of_functions(self):
        x = eager.tensor([1.0, 2.0, 3.0])
        self.assert_same(func.grad(lambda v: (v**3).sum())(x), [3, 12, 27])
        self.assert_same(func.jacrev(lambda v: v * v)(x), np.diag([2.0, 4, 6]))
        self.assert_same(func.jacfwd(lambda v: v * v)(x), np.diag([2.0, 4, 6]))
        self.assert_same(func.hessian(lambda v: (v**3).sum())(x), np.diag([6.0, 12, 18]))
        value, pullback = func.vjp(lambda v: v * v, x)
        self.assert_same(pullback(eager.ones(3))[0], [2, 4, 6])
        self.assert_same(func.jvp(lambda v: v * v, (x,), (eager.ones(3),))[1], [2, 4, 6])
        rows = eager.tensor(array(4, 3))
        self.assert_same(eager.vmap(lambda a, b: (a * b).sum(), in_dims=(0, None))(rows, x), rows.numpy() @ x.numpy())
        each = eager.vmap(func.grad(lambda v: (v**2).sum()))(rows)
        self.assert_same(each, 2 * rows.numpy())


class Messages(unittest.TestCase):
    def test_name_function_and_argument(self):
        x = eager.zeros(3)
        for refused, message in [
            (lambda: x.sum(dim="a"), r"sum\(\): dim: expected int or a sequence of int, got 'a'"),
            (lambda: x.topk("a"), r"topk\(\): k: expected int, got 'a'"),
            (lambda: eager.relu(None), r"relu\(\): input: expected Tensor, got None"),
            (lambda: eager.cat(3), r"cat\(\): tensors: expected Tensors, got 3"),
            (lambda: x.softmax(dim=x), r"softmax\(\): dim: expected int, got a Tensor float\[3\]"),
            (lambda: x.sum(dims=0), r"sum\(\) has no argument dims; there are input, dim, keepdim, dtype"),
            (lambda: x.sum(0, axis=0), r"sum\(\) got two values of axis"),
            (lambda: x.gather(0), r"gather\(\) needs the argument index"),
            (lambda: x.cumsum(0, 1), r"cumsum\(\) takes 2 arguments by place, got 3"),
            (lambda: eager.zeros(2, device="cuda"), "device: expected 'cpu', got 'cuda'"),
        ]:
            with self.assertRaisesRegex(TypeError, message):
                refused()
        with self.assertRaisesRegex(AttributeError, r"values are immutable; x = x\.add\(\.\.\.\)"):
            x.add_(1)

    def test_speak_python(self):
        x = eager.tensor([1, 2])
        for refused, message in [
            (lambda: x.mean(), r"to\(eager\.float32\)"),
            (lambda: eager.ones(1).backward(), r"under no_grad\(\).*requires_grad_\(\)"),
            (lambda: x.requires_grad_(), r"to\(eager\.float32\)"),
        ]:
            with self.assertRaisesRegex(RuntimeError, message) as caught:
                refused()
            self.assertNotRegex(str(caught.exception), r"DType::|NoGrad|set_requires")


class Copies(unittest.TestCase):
    def again(self, thing):
        return [copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))]

    def test_tensors(self):
        for dtype in ("float", "bfloat16", "int64", "bool"):
            x = eager.tensor([[1, 0, 3]]).to(dtype)
            for other in self.again(x):
                self.assertEqual((other.dtype, other.shape, other.tolist()), (x.dtype, x.shape, x.tolist()))
                self.assertFalse(other.is_same(x))
        self.assertEqual(self.again(eager.tensor(np.array(["a", "b"])))[1].tolist(), ["a", "b"])
        for other in self.again(nn.Parameter(eager.ones(2))):
            self.assertIsInstance(other, nn.Parameter)
            self.assertTrue(other.requires_grad)

    def test_attributes(self):
        x = eager.ones(2, requires_grad=True)
        self.assertEqual((str(x.device), x.device), ("cpu", "cpu"))
        self.assertTrue(x.to("cpu").is_same(x))
        x.data = eager.zeros(2)
        self.assertEqual((x.tolist(), x.data.requires_grad), ([0, 0], False))

    def test_modules(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Sequential(nn.Conv2d(1, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU())
                self.head = nn.Linear(4, 4)
                self.head.weight = nn.Parameter(eager.eye(4))
                self.tied = self.head.weight
                self.rnn = nn.LSTM(4, 3)
                self.register_buffer("steps", eager.tensor(3), persistent=False)
                self.note = [1, 2]

            def forward(self, x):
                return self.rnn(self.head(self.body(x).mean((2, 3))).unsqueeze(0))[0]

        globals()["Net"] = Net
        Net.__qualname__ = "Net"
        net = Net()
        x = eager.randn(2, 1, 6, 6)
        net(x)
        net.eval()
        net.head.bias.requires_grad_(False)
        before = eager.get_rng_state().tolist()
        for other in self.again(net):
            np.testing.assert_array_equal(other(x).numpy(), net(x).numpy())
            self.assertEqual(list(other.state_dict()), list(net.state_dict()))
            self.assertTrue(other.tied.is_same(other.head.weight))
            self.assertFalse(other.tied.is_same(net.tied))
            self.assertEqual((other.note, other.steps.item(), other.training), ([1, 2], 3, False))
            self.assertFalse(other.head.bias.requires_grad)
            other.head.weight.assign(eager.zeros(4, 4))
        self.assertEqual(net.head.weight.sum().item(), 4)
        self.assertEqual(eager.get_rng_state().tolist(), before)
        half = copy.deepcopy(net.body.to("bfloat16"))
        self.assertEqual(half[0].weight.dtype, eager.bfloat16)

    def test_states_of_optimisers(self):
        p = nn.Parameter(eager.ones(2))
        optimizer = optim.Adam([p])
        p.sum().backward()
        optimizer.step()
        stream = io.BytesIO()
        pickle.dump(optimizer.state_dict(), stream)
        stream.seek(0)
        optim.Adam([p]).load_state_dict(pickle.load(stream))


class Signs(optim.Optimizer):
    def __init__(self, params, lr=0.1, decay=0.0):
        super().__init__(params, {"lr": lr, "decay": decay})

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self.state[p]["count"] = self.state[p].get("count", 0) + 1
                    p.assign(p.detach() * (1 - group["decay"]) - group["lr"] * p.grad.sign())


class Halving(optim.LRScheduler):
    def get_lr(self):
        return [base * 0.5**self.last_epoch for base in self.base_lrs]


class Optimisers(unittest.TestCase):
    def test_groups_are_read_and_written(self):
        p, q = nn.Parameter(eager.ones(2)), nn.Parameter(eager.ones(3))
        optimizer = optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.5}], lr=0.1, momentum=0.9)
        self.assertIs(optimizer.param_groups[0]["params"][0], p)
        self.assertEqual([group["lr"] for group in optimizer.param_groups], [0.1, 0.5])
        p.sum().backward()
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] *= 0.1
            group["weight_decay"] = 1.0
            group["momentum"] = 0.0
            group["initial_lr"] = 7
        value = p.tolist()[0]
        optimizer.step()
        self.assertAlmostEqual(p.tolist()[0], value - 0.01 * (1 + value), places=6)
        self.assertEqual(optimizer.param_groups[1]["initial_lr"], 7)
        optimizer.add_param_group({"params": [nn.Parameter(eager.ones(1))], "lr": 2.0})
        self.assertEqual(optimizer.param_groups[2]["lr"], 2.0)
        self.assertAlmostEqual(optimizer.param_groups[0]["lr"], 0.01)
        with self.assertRaisesRegex(TypeError, "momentum"):
            optimizer.param_groups[0]["momentum"] = "a lot"

    def test_lbfgs_has_one_group(self):
        optimizer = optim.LBFGS([nn.Parameter(eager.ones(2))])
        with self.assertRaisesRegex(ValueError, "LBFGS has one group"):
            optimizer.add_param_group({"params": [nn.Parameter(eager.ones(1))]})
        optimizer.param_groups[0]["lr"] = 0.5
        self.assertEqual(optimizer.param_groups[0]["lr"], 0.5)

    def test_of_ones_own(self):
        p = nn.Parameter(eager.ones(2))
        optimizer = Signs([p], lr=0.5)
        schedule = Halving(optimizer)
        p.sum().backward()
        optimizer.step()
        self.assertEqual(p.tolist(), [0.5, 0.5])
        schedule.step()
        self.assertEqual(optimizer.param_groups[0]["lr"], 0.25)
        self.assertEqual(schedule.get_last_lr(), [0.25])
        saved = pickle.loads(pickle.dumps(optimizer.state_dict()))
        other = Signs([p])
        other.load_state_dict(saved)
        self.assertEqual((other.state[p]["count"], other.param_groups[0]["lr"]), (1, 0.25))
        optim.lr_scheduler.StepLR(other, 1)
        with self.assertRaises(NotImplementedError):
            optim.Optimizer([p], {"lr": 0.1}).step()

    def test_scaler(self):
        p = nn.Parameter(eager.ones(2))
        for optimizer in (optim.SGD([p], lr=0.5), Signs([p], lr=0.5)):
            p.assign(eager.ones(2))
            p.grad = None
            scaler = amp.GradScaler(init_scale=8.0)
            scaler.scale(p.sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            self.assertEqual(p.tolist(), [0.5, 0.5])
            p.grad = eager.tensor([float("inf"), 1.0])
            scaler.step(optimizer)
            scaler.update()
            self.assertEqual((p.tolist(), scaler.get_scale()), ([0.5, 0.5], 4.0))

    def test_averages(self):
        net = nn.Linear(1, 1, bias=False)
        average = optim.swa_utils.AveragedModel(net)
        for value in (1.0, 2.0, 6.0):
            net.weight.assign(eager.full((1, 1), value))
            average.update_parameters(net)
        self.assertAlmostEqual(average(eager.ones(1, 1)).item(), 3.0, places=6)


class Layers(unittest.TestCase):
    def test_windows_and_bags(self):
        x = eager.randn(1, 2, 4, 4)
        columns = nn.Unfold(2, stride=2)(x)
        self.assertEqual(columns.shape, (1, 8, 4))
        np.testing.assert_allclose(nn.Fold((4, 4), 2, stride=2)(columns).numpy(), x.numpy())
        bag = nn.EmbeddingBag(5, 3, mode="sum")
        found = bag(eager.tensor([0, 1, 4]), eager.tensor([0, 2]))
        np.testing.assert_allclose(found.numpy()[0], (bag.weight[0] + bag.weight[1]).detach().numpy(), rtol=1e-6)
        self.assertEqual(nn.InstanceNorm2d(2)(x).shape, x.shape)
        self.assertEqual(nn.functional.relu(eager.tensor([-1.0])).item(), 0)


class Losses(unittest.TestCase):
    def test_take_names(self):
        a, b = array(4, 3), array(4, 3)
        x, y = eager.tensor(a), eager.tensor(b)
        self.assertAlmostEqual(nn.functional.mse_loss(input=x, target=y).item(), ((a - b) ** 2).mean(), places=5)
        distance = np.linalg.norm(a - b + 1e-6, axis=1)
        np.testing.assert_allclose(nn.functional.pairwise_distance(x, y).numpy(), distance, rtol=1e-5)
        triplet = nn.TripletMarginLoss(margin=0.5, reduction="none")(x, y, -y).numpy()
        other = np.linalg.norm(a + b + 1e-6, axis=1)
        np.testing.assert_allclose(triplet, np.maximum(distance - other + 0.5, 0), rtol=1e-4, atol=1e-5)
        ranking = nn.functional.margin_ranking_loss(x, y, eager.ones(4, 3), margin=1.0, reduction="sum")
        self.assertAlmostEqual(ranking.item(), np.maximum(b - a + 1, 0).sum(), places=4)

    def test_linalg(self):
        a = array(3, 3).astype("d") + 3 * np.eye(3)
        x = eager.tensor(a)
        self.assertAlmostEqual(eager.linalg.cond(x).item(), np.linalg.cond(a), places=6)
        self.assertAlmostEqual(eager.linalg.matrix_norm(x, "nuc").item(), np.linalg.norm(a, "nuc"), places=6)
        self.assertAlmostEqual(eager.linalg.matrix_norm(x, 1).item(), np.linalg.norm(a, 1), places=6)
        np.testing.assert_allclose(eager.linalg.matrix_power(x, -2).numpy(), np.linalg.matrix_power(a, -2), rtol=1e-6)
        solved = eager.linalg.solve_triangular(x, eager.ones(3, 1, dtype="double"), upper=True)
        np.testing.assert_allclose(solved.numpy(), np.linalg.solve(np.triu(a), np.ones((3, 1))), rtol=1e-8)

    def test_cycles(self):
        optimizer = optim.SGD([nn.Parameter(eager.ones(1))], lr=0.1)
        cycle = optim.lr_scheduler.CyclicLR(optimizer, 0.1, 0.5, step_size_up=2)
        rates = []
        for _ in range(4):
            cycle.step()
            rates.append(round(optimizer.lr, 6))
        self.assertEqual(rates, [0.3, 0.5, 0.3, 0.1])

    def test_cycles_of_the_momentum(self):
        for optimizer, read in (
            (optim.SGD([nn.Parameter(eager.ones(1))], lr=0.1), lambda group: group["momentum"]),
            (optim.AdamW([nn.Parameter(eager.ones(1))], lr=0.1), lambda group: group["betas"][0]),
        ):
            schedule = optim.lr_scheduler.OneCycleLR(
                optimizer, max_lr=[0.1], epochs=2, steps_per_epoch=3, pct_start=0.5, max_momentum=0.9
            )
            momenta = []
            for _ in range(6):
                momenta.append(round(read(optimizer.param_groups[0]), 6))
                schedule.step()
            self.assertEqual(momenta, [0.9, 0.875, 0.85, 0.8625, 0.8875, 0.9])
            last = read(optimizer.param_groups[0])
            optimizer.param_groups[0]["weight_decay"] = 0.5  # makes the optimiser anew
            self.assertAlmostEqual(read(optimizer.param_groups[0]), last)
        self.assertEqual(optimizer.param_groups[0]["betas"][1], 0.999)
        with self.assertRaisesRegex(TypeError, "expected total_steps, or epochs and steps_per_epoch"):
            optim.lr_scheduler.OneCycleLR(optimizer, 0.1, epochs=2)
        with self.assertRaisesRegex(InvalidArgument, "expected an optimiser with a momentum or betas, got Adagrad"):
            optim.lr_scheduler.CyclicLR(optim.Adagrad([nn.Parameter(eager.ones(1))]), 0.1, 0.2)

    def test_a_velocity_outlives_a_momentum_of_zero(self):
        p = nn.Parameter(eager.ones(1))
        optimizer = optim.SGD([p], lr=1.0, momentum=0.5)
        seen = []
        for momentum, decay in ((0.5, 0.0), (0.0, 0.0), (0.0, 0.0), (0.5, 0.0)):
            optimizer.param_groups[0]["momentum"] = momentum
            optimizer.param_groups[0]["weight_decay"] = decay
            optimizer.zero_grad()
            p.sum().backward()
            optimizer.step()
            seen.append(p.item())
        self.assertEqual(seen, [0.0, -1.0, -2.0, -3.5])  # torch's


class Messages(unittest.TestCase):
    def test_name_the_function_and_the_argument(self):
        x = eager.ones(2, 2, requires_grad=True)
        optimizer = optim.SGD([x], lr=0.1)
        schedules = optim.lr_scheduler
        for call, said in (
            (lambda: eager.linalg.solve("a", x), r"solve\(\): A: expected a Tensor, got 'a'"),
            (lambda: eager.linalg.solve(x), r"solve\(\) needs the argument B"),
            (lambda: eager.linalg.cholesky(x, upper="yes"), r"cholesky\(\): upper: expected bool, got 'yes'"),
            (lambda: eager.linalg.pinv(x, rtol="a"), r"pinv\(\): rtol: expected Optional\[float\], got 'a'"),
            (lambda: x.backward(retain_graph="yes"), r"backward\(\): retain_graph: expected Optional\[bool\], got 'yes'"),
            (lambda: x.requires_grad_(2), r"requires_grad_\(\): requires_grad: expected bool, got 2"),
            (lambda: x.assign("a"), r"assign\(\): value: expected a Tensor, got 'a'"),
            (lambda: x.index_put((0,)), r"index_put\(\) needs the argument values"),
            (lambda: x.clamp_min("a"), "expected a number, got 'a'"),
            (lambda: x.index_fill(0, eager.tensor([0]), "a"), r"index_fill\(\): value: expected a number, got 'a'"),
            (lambda: eager.grad(x, x, create_graph=1), r"grad\(\): create_graph: expected bool, got 1"),
            (lambda: eager.manual_seed("a"), r"manual_seed\(\): seed: expected int, got 'a'"),
            (lambda: nn.init.constant_(x, "a"), r"constant_\(\): val: expected a number, got 'a'"),
            (lambda: nn.init.xavier_uniform_("a"), r"xavier_uniform_\(\): tensor: expected a Tensor, got 'a'"),
            (lambda: nn.dropout(x, p="a"), r"dropout\(\): p: expected float, got 'a'"),
            (lambda: nn.scaled_dot_product_attention(x, x), r"scaled_dot_product_attention\(\) needs the argument value"),
            (lambda: nn.GRUCell(2, 2)("a"), "expected a Tensor, got str"),
            (lambda: nn.TransformerEncoderLayer(2, 1)("a"), "src: expected a Tensor, got str"),
            (lambda: optim.clip_grad_norm_([x], "a"), r"clip_grad_norm_\(\): max_norm: expected float, got 'a'"),
            (lambda: schedules.StepLR(3, 1), r"StepLR\(\): optimizer: expected an Optimizer, got 3"),
            (lambda: schedules.StepLR(optimizer), r"StepLR\(\) needs the argument step_size"),
            (lambda: schedules.LinearLR(optimizer, total=3), r"LinearLR\(\) has no argument total; there are"),
            (lambda: schedules.ReduceLROnPlateau(optimizer, "up"), "mode: expected one of 'min', 'max', got 'up'"),
            (lambda: schedules.SequentialLR(optimizer, [3], [1]), "schedulers: expected LRSchedulers, got 3"),
            (lambda: optimizer.set_lr("a", 0), r"set_lr\(\): lr: expected float, got 'a'"),
            (lambda: optimizer.set_lr(1.0, -1), r"set_lr\(\): group: expected int, got -1"),
            (lambda: eager.Generator().manual_seed("a"), r"manual_seed\(\): seed: expected int, got 'a'"),
            (lambda: eager.Generator().set_state("a"), r"set_state\(\): new_state: expected a Tensor, got 'a'"),
            (lambda: eager.set_rng_state("a"), r"set_rng_state\(\): new_state: expected a Tensor, got 'a'"),
            (lambda: amp.GradScaler().scale("a"), r"scale\(\): outputs: expected a Tensor, got 'a'"),
            (lambda: amp.GradScaler().step(3), r"step\(\): optimizer: expected an Optimizer, got 3"),
            (lambda: amp.GradScaler().unscale_(None), r"unscale_\(\): optimizer: expected an Optimizer, got None"),
        ):
            with self.subTest(said=said):
                with self.assertRaisesRegex(TypeError, said) as caught:
                    call()
                self.assertNotIn("incompatible", str(caught.exception))


class Cycles(unittest.TestCase):
    def test_what_holds_itself_is_freed(self):
        class Model(nn.Module):
            pass

        class Layer(nn.Linear):
            def __init__(self):
                self.before = [1]
                super().__init__(2, 2)

        class Steps(optim.Optimizer):
            def step(self, closure=None):
                pass

        class Rates(optim.LRScheduler):
            def get_lr(self):
                return [1.0]

        weight = eager.ones(2)
        for make in (Model, Layer, lambda: Steps([weight], {}), lambda: Rates(optim.SGD([weight], lr=0.1))):
            made = make()
            made.own = [made]
            made.kept = [1, [2]]
            gc.collect()
            self.assertEqual(made.kept, [1, [2]])
            left = weakref.ref(made)
            del made
            gc.collect()
            self.assertIsNone(left(), make)

    def test_text_of_unsigned_numbers(self):
        x = eager.tensor([2**64 - 1, 2**63, 1], dtype="uint64")
        self.assertEqual(repr(x), "Tensor(uint64[3] [18446744073709551615, 9223372036854775808, 1])")

    def test_numbers_are_taken_as_they_are(self):
        self.assertEqual(eager.tensor([2**64 - 1, 1]).tolist(), [2**64 - 1, 1])
        self.assertEqual(eager.tensor([[2**63], [1]], dtype="int64").tolist(), [[-(2**63)], [1]])
        self.assertEqual(eager.tensor([0.1], dtype="float64").tolist(), [0.1])
        self.assertEqual(eager.tensor([2.0**53 - 1], dtype="int64").tolist(), [2**53 - 1])
        self.assertEqual(eager.tensor([2.0**63, 1]).dtype, eager.tensor([0.5]).dtype)
        self.assertEqual(eager.tensor([2**64, -1], dtype="float64").tolist(), [2.0**64, -1])
        for long in ([2**64], [2**63, -1]):
            with self.assertRaisesRegex(ValueError, "no type of integers holds all of them"):
                eager.tensor(long)

    def test_seeding_gives_the_generator(self):
        generator = eager.Generator()
        self.assertIs(generator.manual_seed(3), generator)
        self.assertEqual(generator.initial_seed(), 3)


if __name__ == "__main__":
    unittest.main()
