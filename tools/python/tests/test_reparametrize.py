"""functional_call, weight_norm and spectral_norm."""
import copy
import unittest

import numpy as np

from sardonyx import InvalidArgument, eager
from sardonyx.eager import func, nn


def known_linear():
    layer = nn.Linear(3, 2)
    layer.load_state_dict({"weight": eager.tensor([[1.0, 2, 2], [-2, 1, 0.5]]), "bias": eager.tensor([0.1, 0.2])})
    return layer


X = [[1.0, -1.0, 2.0], [0.5, 0.0, 1.0]]


class Scaled(nn.Module):
    """Its weight is an attribute of Python."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(eager.tensor([[3.0, 4.0]]))

    def forward(self, x):
        return x * self.weight


class WeightNorm(unittest.TestCase):
    def test_as_torch(self):
        layer = nn.utils.weight_norm(known_linear())
        self.assertIsInstance(layer, nn.Linear)
        self.assertEqual(list(layer.state_dict()), ["bias", "weight_g", "weight_v"])
        x = eager.tensor(X)
        layer(x).square().sum().backward()
        np.testing.assert_allclose(layer.weight_g.grad.flatten().tolist(), [10.5333333, 3.2732684], rtol=1e-5)
        np.testing.assert_allclose(layer.weight_v.grad.tolist()[0], [5.2888889, -13.2222222, 10.5777778], rtol=1e-5)
        layer.weight_g.assign(layer.weight_g.detach() * 2)
        doubled = [[6.1, -3.8], [5.1, -0.8]]
        np.testing.assert_allclose(layer(x).tolist(), doubled, rtol=1e-5)
        np.testing.assert_allclose(layer.weight.tolist(), [[2, 4, 4], [-4, 2, 1]], rtol=1e-5)
        copied = copy.deepcopy(layer)
        layer.weight_g.assign(layer.weight_g.detach() * 2)
        np.testing.assert_allclose(copied(x).tolist(), doubled, rtol=1e-5)
        nn.utils.remove_weight_norm(copied)
        self.assertEqual(list(copied.state_dict()), ["bias", "weight"])
        np.testing.assert_allclose(copied(x).tolist(), doubled, rtol=1e-5)
        copied(x).sum().backward()
        self.assertIsNotNone(copied.weight.grad)
        with self.assertRaisesRegex(ValueError, "weight_norm of 'weight' not found in Linear"):
            nn.utils.remove_weight_norm(copied)

    def test_one_norm_and_modules_of_python(self):
        module = nn.utils.weight_norm(Scaled(), dim=None)
        self.assertEqual(module.weight_g.item(), 5)
        module.weight_g.assign(eager.tensor(10.0))
        self.assertEqual(module(eager.ones(1, 2)).tolist(), [[6, 8]])
        with self.assertRaisesRegex(RuntimeError, "computed from others already"):
            nn.utils.weight_norm(module)
        nn.utils.remove_weight_norm(module)
        self.assertEqual({name: p.tolist() for name, p in module.named_parameters()}, {"weight": [[6, 8]]})
        with self.assertRaisesRegex(AttributeError, "Scaled has no parameter wieght"):
            nn.utils.weight_norm(module, "wieght")

    def test_several_tensors_of_a_layer(self):
        layer, x = nn.LSTM(3, 4), eager.randn(5, 2, 3)
        expected = layer(x)[0].numpy()
        for name in ("weight_ih_l0", "weight_hh_l0"):
            nn.utils.weight_norm(layer, name)
        np.testing.assert_allclose(layer(x)[0].numpy(), expected, rtol=1e-4, atol=1e-6)
        layer(x)[0].sum().backward()
        self.assertIsNotNone(layer.weight_hh_l0_g.grad)
        for name in ("weight_ih_l0", "weight_hh_l0"):
            nn.utils.remove_weight_norm(layer, name)
        self.assertIs(type(layer), nn.LSTM)
        np.testing.assert_allclose(layer(x)[0].numpy(), expected, rtol=1e-4, atol=1e-6)


class SpectralNorm(unittest.TestCase):
    def test_divides_by_the_greatest_singular_value(self):
        layer = nn.utils.spectral_norm(known_linear(), n_power_iterations=50)
        self.assertEqual(list(layer.state_dict()), ["bias", "weight_orig", "weight_u", "weight_v"])
        weight = np.array([[1, 2, 2], [-2, 1, 0.5]])
        expected = np.array(X) @ (weight / np.linalg.svd(weight)[1][0]).T + [0.1, 0.2]
        np.testing.assert_allclose(layer(eager.tensor(X)).tolist(), expected, rtol=1e-4)
        layer.eval()
        before = layer.weight_u.tolist()
        layer(eager.tensor(X)).sum().backward()
        self.assertEqual(layer.weight_u.tolist(), before)
        self.assertIsNotNone(layer.weight_orig.grad)
        nn.utils.remove_spectral_norm(layer)
        np.testing.assert_allclose(layer.weight.tolist(), weight / np.linalg.svd(weight)[1][0], rtol=1e-4)

    def test_compiled_steps_move_the_estimates(self):
        layer = nn.utils.spectral_norm(known_linear())
        u, x = layer.weight_u.tolist(), eager.tensor(X)
        step = eager.compile(lambda x: layer(x))
        for _ in range(30):
            y = step(x)
        self.assertNotEqual(layer.weight_u.tolist(), u)
        layer.eval()
        np.testing.assert_allclose(y.numpy(), layer(x).numpy(), rtol=1e-4)


class FunctionalCall(unittest.TestCase):
    def test_gradients_flow_to_what_is_given(self):
        net = nn.Sequential(known_linear(), nn.Tanh())
        weight = eager.zeros(2, 3, requires_grad=True)
        y = func.functional_call(net, {"0.weight": weight}, (eager.tensor(X),))
        np.testing.assert_allclose(y.tolist(), np.tanh([[0.1, 0.2]] * 2), rtol=1e-6)
        y.sum().backward()
        self.assertIsNone(net[0].weight.grad)
        self.assertIsNotNone(weight.grad)
        with self.assertRaisesRegex(InvalidArgument, "no parameter or buffer '0.wieght'"):
            func.functional_call(net, {"0.wieght": weight}, eager.tensor(X))
        self.assertEqual(net[0].weight.tolist(), [[1, 2, 2], [-2, 1, 0.5]])

    def test_a_step_through_which_gradients_flow(self):
        net, x = known_linear(), eager.tensor(X)
        params = dict(net.named_parameters())
        slopes = eager.autograd.grad(net(x).square().sum(), list(params.values()), create_graph=True)
        fast = {name: p - 0.1 * slope for (name, p), slope in zip(params.items(), slopes)}
        func.functional_call(net, fast, x).sum().backward()
        # d sum(x w' + b') / dw: with w' = w - 0.2 x^T (x w + b), as both are linear in w and b.
        rows, ones = np.array(X), np.ones((2, 1))
        whole = np.concatenate([rows, ones], 1)
        gradient = whole.sum(0) - 0.2 * whole.T @ whole @ whole.sum(0)
        np.testing.assert_allclose(net.weight.grad.tolist(), [gradient[:3]] * 2, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(net.bias.grad.tolist(), [gradient[3]] * 2, rtol=1e-4)

    def test_modules_of_python(self):
        module = Scaled()
        given = eager.tensor([[2.0, 3.0]], requires_grad=True)
        y = func.functional_call(module, {"weight": given}, (), {"x": eager.ones(1, 2)})
        self.assertEqual(y.tolist(), [[2, 3]])
        y.sum().backward()
        self.assertEqual(given.grad.tolist(), [[1, 1]])

    def test_gradients_and_ensembles_by_dicts(self):
        nets = [nn.Linear(3, 1) for _ in range(4)]
        x, y = eager.randn(5, 3), eager.randn(5, 1)

        def loss(params, x, y):
            return nn.mse_loss(func.functional_call(nets[0], params, (x,)), y)

        found = func.grad(loss)(dict(nets[0].named_parameters()), x, y)
        loss(dict(nets[0].named_parameters()), x, y).backward()
        np.testing.assert_allclose(found["weight"].tolist(), nets[0].weight.grad.tolist(), rtol=1e-5)
        params, buffers = func.stack_module_state(nets)
        self.assertEqual(tuple(params["weight"].shape), (4, 1, 3))
        self.assertEqual(buffers, {})
        together = func.vmap(lambda p, x: func.functional_call(nets[0], p, (x,)), in_dims=(0, None))(params, x)
        for net, own in zip(nets, together):
            np.testing.assert_allclose(own.tolist(), net(x).tolist(), rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
